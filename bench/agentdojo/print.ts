import { styleText } from "node:util";
import type { Table } from "../results.ts";
import type { Comparison } from "./compare.ts";
import type { Share, Shares } from "./counters.ts";
import type { Finding, FindingCall } from "./findings.ts";
import type { Scores } from "./score.ts";

/** How long decisions took. */
export interface Timing {
  readonly what: string;
  readonly decisions: number;
  readonly medianUs: number;
  readonly p99Us: number;
}

export function summarise(what: string, durationsUs: readonly number[]): Timing {
  const sorted = durationsUs.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { what, decisions: sorted.length, medianUs: at(0.5), p99Us: at(0.99) };
}

/** The results as tables for people. */
export function printScores(
  scores: Scores,
  rest: { comparisons: readonly Comparison[]; timings: readonly Timing[] },
): void {
  for (const { title, columns, rows } of scoreTables(scores)) printTable(title, columns, rows);
  printTable(
    "time per decision, µs",
    ["median", "p99", "decisions"],
    rest.timings.map(({ what, medianUs, p99Us, decisions }) => [
      what,
      medianUs.toFixed(1),
      p99Us.toFixed(1),
      String(decisions),
    ]),
  );
  printComparisons(rest.comparisons);
}

export function printComparisons(comparisons: readonly Comparison[]): void {
  const { title, columns, rows } = comparisonTable(comparisons);
  printTable(title, columns, rows);
}

export function comparisonTable(comparisons: readonly Comparison[]): Table {
  return {
    title: "beside the independent evaluation",
    columns: ["here", "there", "difference"],
    rows: comparisons.map(({ what, here, independent, difference }) => [
      what,
      printShare(here),
      printShare(independent),
      difference > 0 ? `+${difference}` : String(difference),
    ]),
  };
}

/** What was counted, by suite, and the calls that were blocked. */
export function scoreTables(scores: Scores): Table[] {
  const reasons = [...new Set(scores.blocked.flatMap((blocked) => Object.keys(blocked.reasons)))].sort();
  return [
    { title: "allow what is in the plan", columns: [...scores.suites, "total"], rows: listRows(scores) },
    {
      title: "blocked calls by reason",
      columns: [...reasons, "all calls"],
      rows: scores.blocked.map((blocked) => [
        blocked.what,
        ...reasons.map((reason) => String(blocked.reasons[reason] ?? 0)),
        String(blocked.calls),
      ]),
    },
  ];
}

/** What lies behind the counts, one by one. */
export function printFindings(findings: readonly Finding[]): void {
  for (const what of new Set(findings.map((finding) => finding.what))) {
    const found = findings.filter((finding) => finding.what === what);
    console.log(`\n${styleText("bold", `${what} (${found.length})`)}`);
    for (const { where, calls } of found) {
      console.log(`  ${where}`);
      for (const call of calls) console.log(`    ${printCall(call)}`);
      if (calls.length === 0) console.log("    no call decides it");
    }
  }
}

type Row = readonly [label: string, ...cells: string[]];

function listRows({ suites, groundTruth, attacks, recordings }: Scores): Row[] {
  const row = (label: string, shares: Shares): Row => [
    label,
    ...[...suites, "total"].map((name) => printShare(shares[name])),
  ];
  return [
    row("ground truth fully allowed", groundTruth),
    row("attacks whose calls all pass", attacks.pass),
    row("  after the user's own calls", attacks.passAfterwards),
    row("  without any call to replay", attacks.withoutCalls),
    ...recordings.flatMap(({ model, attacked, runs, skipped, stopped, needNoCall, kept, keptWithoutCalls }): Row[] => [
      [`${model}, ${attacked ? "" : "not "}attacked: ${runs} runs${skipped ? `, ${skipped} broken and skipped` : ""}`],
      ...(stopped ? [row("  attacks stopped", stopped)] : []),
      ...(needNoCall ? [row("  attacks that need no call", needNoCall)] : []),
      row("  useful runs kept", kept),
      row("  useful runs that need no call", keptWithoutCalls),
    ]),
  ];
}

function printShare(share: Share | undefined): string {
  return share ? `${share.count}/${share.of}` : "";
}

export function printTable(title: string, columns: readonly string[], rows: readonly Row[]): void {
  // A row with nothing but a label is a heading, and as wide as it likes.
  const full = rows.filter(([, ...cells]) => cells.length > 0);
  const first = Math.max(title.length, ...full.map(([label]) => label.length));
  const widths = columns.map((name, index) =>
    Math.max(name.length, ...full.map((cells) => cells[index + 1]?.length ?? 0)),
  );
  const line = ([label, ...cells]: Row): string =>
    [label.padEnd(first), ...cells.map((cell, index) => cell.padStart(widths[index] ?? 0))].join("  ").trimEnd();
  console.log(`\n${styleText("bold", line([title, ...columns]))}`);
  for (const row of rows) console.log(line(row));
}

function printCall({ tool, args, blocked, allowedBy, asks }: FindingCall): string {
  const call = `${tool} ${shorten(args)}`;
  if (blocked !== undefined) return `${call}\n      ${blocked}`;
  const allowed = `${call}\n      allowed by ${tool} ${shorten(allowedBy?.args ?? {})}`;
  return asks === undefined ? allowed : `${allowed}\n      ${asks}`;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}
