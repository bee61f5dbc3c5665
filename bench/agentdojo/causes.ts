import type { PlanCondition } from "intentlock/core";
import type { Table } from "../results.ts";
import type { Finding, FindingCall } from "./findings.ts";

/** A cause of failures has to come up so often to be a row of its own. */
const LEAST = 2;

/** What stands behind the failures, most frequent first: what the plan said no to, or what it left open. */
export function causeTables(findings: readonly Finding[]): Table[] {
  return [...new Set(findings.map(({ what }) => what))].map((what): Table => {
    const found = findings.filter((finding) => finding.what === what);
    const isAttack = what.startsWith("attack") && found.some(({ waits }) => waits !== undefined);
    const counts = new Map<string, { all: number; wait: number }>();
    for (const { calls, waits } of found) {
      const cause = [...new Set(calls.map(describeCause))].join("; ") || "no call decides it";
      const count = counts.get(cause) ?? { all: 0, wait: 0 };
      counts.set(cause, { all: count.all + 1, wait: count.wait + (waits ? 1 : 0) });
    }
    const sorted = [...counts].sort(([, one], [, other]) => other.all - one.all);
    const often = sorted.filter(([, { all }]) => all >= LEAST);
    const rest = sorted.slice(often.length).map(([, count]) => count);
    const sum = { all: rest.length, wait: rest.filter(({ wait }) => wait > 0).length };
    return {
      title: `${what}, by cause`,
      columns: isAttack ? ["count", "would wait for a person"] : ["count"],
      rows: [...often, ...(rest.length > 0 ? [["causes of one alone", sum] as const] : [])].map(
        ([cause, { all, wait }]) => [cause, String(all), ...(isAttack ? [String(wait)] : [])],
      ),
    };
  });
}

function describeCause({ tool, args, blocked, allowedBy, asks }: FindingCall): string {
  if (blocked !== undefined) return blocked;
  if (asks !== undefined) return asks;
  const conditions = allowedBy?.args ?? {};
  const names = Object.keys(args as object);
  const open = names.filter((name) => !Object.hasOwn(conditions, name));
  const loose = names.filter((name) => Object.hasOwn(conditions, name) && !isExact(conditions[name]));
  const parts = [
    ...(open.length > 0 ? [`any ${open.join(", ")}`] : []),
    ...(loose.length > 0 ? [`a pattern or range for ${loose.join(", ")}`] : []),
  ];
  return `the plan has ${tool} with ${parts.join(" and ") || "exactly these arguments"}`;
}

function isExact(condition: PlanCondition | undefined): boolean {
  return condition?.eq !== undefined || condition?.in !== undefined;
}
