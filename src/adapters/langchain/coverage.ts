import { assertNoneUngated } from "../../session/setup-errors.ts";

/** A tool that runs here. */
export interface ClientTool {
  readonly name: string;
  readonly invoke: (input: unknown, config?: unknown) => Promise<unknown>;
}

/** Whether a tool runs here. What has no `invoke` is handed to the model's provider, and runs there. */
export function isClientTool(tool: unknown): tool is ClientTool {
  if (typeof tool !== "object" || tool === null) return false;
  return typeof Reflect.get(tool, "invoke") === "function" && typeof Reflect.get(tool, "name") === "string";
}

/** The name of a tool that the provider runs, as far as it has one: Gemini's have theirs for a key. */
export function nameServerTool(tool: unknown): string {
  const parts = typeof tool === "object" && tool !== null ? tool : {};
  const name: unknown = Reflect.get(parts, "name") ?? Reflect.get(parts, "type") ?? Object.keys(parts)[0];
  return typeof name === "string" ? name : "(without a name)";
}

/** @throws IntentlockError `ERR_UNGATED_TOOLS` unless `allowUngated` names every tool that the provider runs */
export function assertCovered(tools: readonly unknown[], allowUngated: readonly string[]): void {
  const names = tools.filter((tool) => !isClientTool(tool)).map(nameServerTool);
  const refused = names.filter((name) => !allowUngated.includes(name));
  assertNoneUngated(refused.map((name) => `${name}: it runs at the model's provider, before anything here is asked`));
}
