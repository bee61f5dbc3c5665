import type { AuditReport } from "../audit/audit-report.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { count } from "./words.ts";

/** More than anybody reads; `--json` has them all. */
const MAX_SHOWN = 50;

/** What an audit has found, in words: the problems first, then the sums. */
export function printAudit(report: AuditReport, paint: Paint): string {
  const { problems } = report;
  const lines = problems
    .slice(0, MAX_SHOWN)
    .map(({ planId, seq, problem }) => `plan ${printable(planId)}, entry ${seq}: ${printable(problem)}`);
  if (problems.length > MAX_SHOWN) lines.push(`… and ${problems.length - MAX_SHOWN} more: --json lists them all`);
  lines.push(
    `${count(report.plans, "plan")}, ${count(report.entries, "entry", "entries")} in ${printable(report.source)}`,
  );
  const { decisions, recomputed, onTrust, notRecomputable, notClosed, removed } = report;
  lines.push(
    `${count(decisions, "decision")}: ${recomputed} recomputed, ${notRecomputable} cannot be (arguments redacted or malformed)`,
  );
  if (onTrust > 0)
    lines.push(`${onTrust} of those recomputed rest on trust: on what tools returned, or on a task that is not known`);
  if (removed > 0) lines.push(`${count(removed, "plan")} uploaded and removed from here: verify the server's store`);
  if (notClosed > 0) lines.push(`${count(notClosed, "plan")} not closed: still open, or cut off`);
  lines.push(report.ok ? paint("green", "Everything agrees.") : paint("red", `${count(problems.length, "problem")}.`));
  return lines.map((line) => `${line}\n`).join("");
}
