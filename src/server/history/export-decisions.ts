import type { DecisionFilter, ExportedDecision } from "../../core/api/index.ts";
import { toDetails } from "../admin/details.ts";
import { describeEvent, toOperator } from "../admin/operator.ts";
import { type AnswerStream, type Caller, ProblemError, type ServerContext } from "../handler.ts";
import type { DecisionPlace } from "../store/index.ts";
import { describePlace, readNames, toPlace, toStoredFilter } from "./list-decisions.ts";
import { limitToSeen, seesAll } from "./may-see.ts";

/** As much as is in memory at once. */
const PAGE = { limit: 500, maxBytes: 1_048_576 } as const;

/**
 * The decisions that a person may see, whole, as lines of JSON: read as fast as the client does, one part at a time. That
 * an administrator took them is on record before the first line.
 */
export async function exportDecisions(
  context: Pick<ServerContext, "store" | "clock">,
  caller: Caller,
  filter: DecisionFilter,
): Promise<AnswerStream> {
  if (caller.kind !== "person") throw new ProblemError("forbidden");
  if (seesAll(caller.person)) await recordExport(context, caller, filter);
  const seen = limitToSeen(caller.person, filter);
  return ReadableStream.from(seen ? readLines(context, seen) : []);
}

async function recordExport(
  context: Pick<ServerContext, "store" | "clock">,
  caller: Caller,
  filter: DecisionFilter,
): Promise<void> {
  const operator = toOperator(caller, context);
  const event = { at: operator.clock(), action: "history.export", target: "decisions", details: toDetails(filter) };
  await operator.store.administer((store) => store.adminAudit.append(describeEvent(operator, event)));
}

async function* readLines(
  { store }: Pick<ServerContext, "store">,
  filter: DecisionFilter,
): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  let before: DecisionPlace | undefined;
  for (;;) {
    const request = { ...toStoredFilter(filter), ...PAGE, ...(before && { before }) };
    const { decisions, hasMore } = await store.auditEntries.decisions(request);
    const names = await readNames(store.agents, decisions);
    const lines = decisions.map((decision) => {
      const line: ExportedDecision = { ...describePlace(decision, names), entry: decision.entry };
      // A line feed in it is escaped.
      return `${JSON.stringify(line)}\n`;
    });
    if (lines.length > 0) yield encoder.encode(lines.join(""));
    const last = decisions.at(-1);
    if (!hasMore || !last) return;
    before = toPlace(last);
  }
}
