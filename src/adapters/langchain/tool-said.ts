import type { ClientTool } from "./coverage.ts";

/**
 * What a tool itself has said, of what it gave. A message counts as its content: the id of the call and the name on it are
 * what the model chose, and of an AI message so are the calls in it. A LangGraph `Command` counts as its update. What was
 * said to a tool or an agent, and came back with its answer, is not its own word.
 */
export function readSaid(given: unknown): unknown {
  return read(given, 0);
}

/**
 * {@link readSaid} of what a tool's `invoke` gave, which has taken a pair of content and artifact apart. It gets together
 * again: where a value stands must not depend on how the tool was called.
 */
export function readInvoked(tool: ClientTool, given: unknown): unknown {
  if (Reflect.get(tool, "responseFormat") !== "content_and_artifact") return readSaid(given);
  return isObject(given) && kindOf(given) === "tool"
    ? readSaid([given["content"], given["artifact"]])
    : [readSaid(given)];
}

/** Deeper than any JSON that is read. */
const MAX_DEPTH = 200;

function read(given: unknown, depth: number): unknown {
  if (!isObject(given)) return given;
  if (depth > MAX_DEPTH) throw new RangeError("The result is too deep");
  if (Array.isArray(given)) return given.map((item) => read(item, depth + 1));
  const kind = kindOf(given);
  if (kind !== undefined) return readMessage(kind, given["content"]);
  if (isCommand(given)) return read(given["update"], depth + 1);
  // LangChain's own objects print with all that they were made of.
  if (typeof given["toJSON"] === "function") return "lc_namespace" in given ? null : given;
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, read(value, depth + 1)]));
}

function readMessage(kind: unknown, content: unknown): unknown {
  if (kind === "tool") return content;
  if (kind !== "ai") return null;
  return Array.isArray(content) ? content.map((block: unknown) => readText(block)) : content;
}

/** Some providers put the calls of a model between its texts. */
function readText(block: unknown): unknown {
  return isObject(block) && block["type"] === "text" ? block["text"] : null;
}

/** What kind of message something is: known by a function, since what a tool has parsed may say of itself what it likes. */
function kindOf(given: Readonly<Record<string, unknown>>): unknown {
  const tell = given["getType"] ?? given["_getType"];
  return typeof tell === "function" && "lc_namespace" in given ? Reflect.apply(tell, given, []) : undefined;
}

function isCommand(given: Readonly<Record<string, unknown>>): boolean {
  return given["lg_name"] === "Command" && typeof given["toJSON"] === "function";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
