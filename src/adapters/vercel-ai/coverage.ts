import type { ToolSet } from "ai";
import { assertNoneUngated } from "../../session/setup-errors.ts";

/** One tool of a set, of whatever types. */
export type AnyTool = ToolSet[string];

/** What the gate cannot see. */
export interface CoverageGap {
  readonly kind: "provider-executed" | "client-side" | "tool-search" | "provider-tool-caller" | "model-id";
  /** Of the tool, or the model's id. */
  readonly name: string;
  readonly detail: string;
}

const DETAILS: Readonly<Record<CoverageGap["kind"], string>> = {
  "provider-executed": "it runs at the model's provider, before anything here is asked",
  "client-side": "it has no execute: the client runs it, and gets the call before any check",
  "tool-search": "the SDK runs its own search instead of what is locked",
  "provider-tool-caller": "code at the model's provider calls tools through it",
  "model-id": "a model given as an id cannot be wrapped: tools that the provider runs are not kept from it",
};

/** The tools of a set that the gate cannot see. Sub-agents inside a tool's execute cannot be told from any other code. */
export function findGaps(tools: ToolSet): CoverageGap[] {
  return Object.entries(tools).flatMap(([name, tool]) => {
    const kind = gapOf(tool);
    return kind === undefined ? [] : [{ kind, name, detail: DETAILS[kind] }];
  });
}

export function modelIdGap(modelId: string): CoverageGap {
  return { kind: "model-id", name: modelId, detail: DETAILS["model-id"] };
}

/** @throws IntentlockError `ERR_UNGATED_TOOLS` unless `allowUngated` names every tool of the gaps */
export function assertCovered(gaps: readonly CoverageGap[], allowUngated: readonly string[]): void {
  const refused = gaps.filter(({ kind, name }) => kind !== "model-id" && !allowUngated.includes(name));
  assertNoneUngated(refused.map(({ kind, name, detail }) => `${name} (${kind}): ${detail}`));
}

/** Why the gate cannot see the calls of a tool; undefined if it can, once the tool is locked. */
export function gapOf(tool: AnyTool): CoverageGap["kind"] | undefined {
  if (Reflect.get(tool, Symbol.for("vercel.ai.toolSearch")) === true) return "tool-search";
  if (readToolCaller(tool)?.type === "provider") return "provider-tool-caller";
  if (tool.type === "provider" && (tool.isProviderExecuted || typeof tool.execute !== "function"))
    return "provider-executed";
  return typeof tool.execute === "function" || readToolCaller(tool) ? undefined : "client-side";
}

/** Lets tools be called from code that a model writes ("code mode"). By its shape: its type is not exported. */
export interface ToolCaller {
  readonly type: "local" | "provider";
  readonly bind?: (tools: ToolSet) => AnyTool;
}

export function readToolCaller(tool: AnyTool): ToolCaller | undefined {
  return Reflect.get(tool, "experimental_toolCaller") as ToolCaller | undefined;
}
