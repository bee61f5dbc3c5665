import { isMcpFailure } from "../../session/mcp-failure.ts";

/**
 * What a tool itself has said, of what Mastra gives for it. Mastra answers in the tool's place where its schemas refuse
 * something, and repeats there what the model wrote. To the text of an agent it adds the calls that this has made, and to
 * the result of a workflow the id of its run: the model chooses both.
 */
export function readSaid(name: string, given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  if (isRefusal(given) || isMcpFailure(given)) return undefined;
  if (name.startsWith("agent-")) return pick(given, ["text", "object"]);
  if (name.startsWith("workflow-")) return pick(given, ["result"]);
  return given;
}

function isRefusal(given: object): boolean {
  return Reflect.get(given, "error") === true && "validationErrors" in given;
}

function pick(given: object, names: readonly string[]): object {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, Reflect.get(given, name)]),
  );
}
