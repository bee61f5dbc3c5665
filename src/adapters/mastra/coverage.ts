import { IntentlockError } from "../../core/index.ts";
import { assertNoneUngated } from "../../session/setup-errors.ts";
import type { AnyTool } from "./describe-tool.ts";

/** What the gate cannot see. */
export interface CoverageGap {
  readonly kind: "provider-executed" | "client-side";
  readonly name: string;
}

const DETAILS: Readonly<Record<CoverageGap["kind"], string>> = {
  "provider-executed": "it runs at the model's provider, before anything here is asked",
  "client-side": "it has no execute: the client runs it, and gets the call before any check",
};

/** The tools of a set that the gate cannot see. What a tool runs inside of itself, sub-agents too, looks like any other code. */
export function findGaps(tools: Readonly<Record<string, AnyTool>>): CoverageGap[] {
  return Object.entries(tools).flatMap(([name, tool]) => {
    const kind = gapOf(tool);
    return kind === undefined ? [] : [{ kind, name }];
  });
}

export function gapOf(tool: AnyTool): CoverageGap["kind"] | undefined {
  const type: unknown = Reflect.get(tool, "type");
  if (type === "provider-defined" || type === "provider") return "provider-executed";
  return typeof Reflect.get(tool, "execute") === "function" ? undefined : "client-side";
}

/** @throws IntentlockError `ERR_UNGATED_TOOLS` unless `allowUngated` names every tool of the gaps */
export function assertCovered(gaps: readonly CoverageGap[], allowUngated: readonly string[]): void {
  const refused = gaps.filter(({ name }) => !allowUngated.includes(name));
  assertNoneUngated(refused.map(({ kind, name }) => `${name} (${kind}): ${DETAILS[kind]}`));
}

/**
 * `agent.network()` runs the tools that its router names past all hooks and processors. Mastra marks the router's messages.
 *
 * @throws IntentlockError `ERR_UNGATED_TOOLS` for the router
 */
export function assertNoNetwork(messages: object): void {
  if (Reflect.get(messages, "_agentNetworkAppend") !== true) return;
  throw new IntentlockError(
    "ERR_UNGATED_TOOLS",
    "agent.network() runs tools past Intentlock's hook and processor: use agent.generate() or agent.stream(), with agents as tools",
  );
}
