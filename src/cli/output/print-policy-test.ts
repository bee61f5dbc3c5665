import type { PolicyTestRow, TestPolicyAnswer, VerdictSummary } from "../../core/api/index.ts";
import type { Paint } from "./paint.ts";
import { type Cell, printTable } from "./table.ts";
import { count } from "./words.ts";

const HEADING = ["PLAN", "ENTRY", "CALL", "TOOL", "BEFORE", "AFTER", ""];

/** Old and new verdicts, one row a call, those that change marked; and how many there are. */
export function printPolicyTest(answer: TestPolicyAnswer, paint: Paint): string {
  const { rows, changed, notRecomputable } = answer;
  const table = rows.length === 0 ? "" : printTable(HEADING, rows.map(toCells), paint);
  const sum = `${count(rows.length, "call")}: ${changed} changed`;
  const left =
    notRecomputable === 0 ? "" : `, ${count(notRecomputable, "decision")} left out (arguments redacted or malformed)`;
  return `${table}${changed > 0 ? paint("yellow", sum) : sum}${left}\n`;
}

function toCells({ planId, seq, callId, tool, before, after, changed }: PolicyTestRow): Cell[] {
  const place = [planId ?? "(sample)", seq === undefined ? "-" : String(seq)];
  const mark: Cell = changed ? { text: "changed", style: "yellow" } : "";
  return [...place, callId, tool, before ? printVerdict(before) : "-", printVerdict(after), mark];
}

/** `allow (rule)`, `block (reason)`. */
function printVerdict({ verdict, reason, rule }: VerdictSummary): string {
  const why = reason ?? rule;
  return why === undefined ? verdict : `${verdict} (${why})`;
}
