import { median } from "../check/measure.ts";
import { ratioOf } from "../check/report.ts";
import { judge, type Table } from "../results.ts";
import type { Agreement } from "./agree.ts";
import type { Sample } from "./measure.ts";
import { FULL_CHECK, MATCHES, type Row, SIZES, TOOLS } from "./subjects.ts";

/** A row's samples by engine, one for each round. */
export interface MeasuredRow extends Omit<Row, "subjects"> {
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
}

export interface ReportInput {
  readonly ours: string;
  readonly libraries: readonly string[];
  readonly floor: string;
  readonly measured: readonly MeasuredRow[];
}

/** For each number of rules and kind of names, the engines: medians, p99, and how many times ours. */
export function timeTables({ ours, libraries, floor, measured }: ReportInput): Table[] {
  const engines = [ours, FULL_CHECK, floor, ...libraries];
  return TOOLS.flatMap((tools) =>
    SIZES.map((size): Table => {
      const rows = MATCHES.flatMap((match) => measured.filter((row) => isRow(row, { rules: size, match, tools })));
      return {
        title: `${size} rules, ${tools}`,
        columns: MATCHES.flatMap((match) => [match === "none" ? "no match" : `${match} matches`, "p99", "ratio"]),
        rows: engines.map((engine) => [
          engine,
          ...rows.flatMap((row) => [
            printNs(median(times(row, engine))),
            printNs(median((row.samples.get(engine) ?? []).map(({ p99Ns }) => p99Ns))),
            engine === ours ? "1" : printRatio(ratioOf(times(row, engine), times(row, ours))),
          ]),
        ]),
      };
    }),
  );
}

/** How many decisions were compared: any that differs has ended the run before. */
export function agreementTable(agreements: readonly Agreement[]): Table {
  const engines = [...new Set(agreements.map(({ engine }) => engine))];
  return {
    title: "decisions that agree with ours",
    columns: ["agree", "differ", "cannot be asked", "what it cannot say"],
    rows: engines.map((engine) => {
      const own = agreements.filter((row) => row.engine === engine);
      const sum = (of: (row: Agreement) => number) => String(own.reduce((total, row) => total + of(row), 0));
      const cannot = [...new Set(own.flatMap((row) => row.cannot))].join("; ");
      return [engine, sum((row) => row.agreed), "0", sum((row) => row.left), cannot];
    }),
  };
}

/** How many times the fastest library may at least take, where an engine has rules to pass over. */
const LEAST = { 10: 1, 100: 8, 1000: 60 } as const;

/** Beside the fastest library of each row. Where the first rule matches, who looks at one after the other looks at one. */
export function targetTable({ ours, libraries, measured }: ReportInput): Table {
  const faster = TOOLS.flatMap((tools) =>
    SIZES.flatMap((size) =>
      (["first", "last", "none"] as const).map((match) => {
        const row = measured.find((candidate) => isRow(candidate, { rules: size, match, tools }));
        const ratios = libraries.map((name) => ({
          name,
          ratio: row ? ratioOf(times(row, name), times(row, ours)) : 0,
        }));
        const fastest = ratios.reduce((one, other) => (other.ratio < one.ratio ? other : one));
        const least = match === "first" ? 1 : LEAST[size];
        return judge(`${size} rules, ${tools}, ${match === "none" ? "no match" : `${match} matches`}`, {
          value: `${printRatio(fastest.ratio)} (${fastest.name})`,
          target: `at least ${least} x`,
          met: fastest.ratio >= least,
        });
      }),
    ),
  );
  const flat = TOOLS.map((tools) => {
    const spreads = MATCHES.map((match) => {
      const medians = measured
        .filter((row) => row.match === match && row.tools === tools)
        .map((row) => median(times(row, ours)));
      return Math.max(...medians) / Math.min(...medians);
    });
    const spread = Math.max(...spreads);
    return judge(`ours, slowest / fastest of 10, 100 and 1000 rules, ${tools}`, {
      value: printRatio(spread),
      target: "at most 1.5 x",
      met: spread <= 1.5,
    });
  });
  return {
    title: "time of the fastest library / ours",
    columns: ["measured", "target", ""],
    rows: [...faster, ...flat],
  };
}

function isRow(row: MeasuredRow, { rules, match, tools }: Omit<Row, "subjects">): boolean {
  return row.rules === rules && row.match === match && row.tools === tools;
}

function times(row: MeasuredRow, engine: string): number[] {
  return (row.samples.get(engine) ?? []).map(({ medianNs }) => medianNs);
}

export function printNs(ns: number): string {
  if (ns < 999.5) return `${ns.toFixed(0)} ns`;
  if (ns < 99_950) return `${(ns / 1000).toFixed(1)} µs`;
  return ns < 999_500 ? `${(ns / 1000).toFixed(0)} µs` : `${(ns / 1e6).toFixed(1)} ms`;
}

function printRatio(ratio: number): string {
  return `${ratio >= 99.5 ? ratio.toFixed(0) : ratio.toPrecision(2)} x`;
}
