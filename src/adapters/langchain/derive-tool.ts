import { langchain } from "./langchain-core.ts";

/**
 * An object that is the tool but for these properties. Its getters are asked of the tool itself: an object that derives
 * from another does not have its `#private` fields. Made for every run of an agent: the properties are those of a literal,
 * since V8 takes longer for each that is defined on an object whose prototype no other has.
 */
export function deriveTool<T extends object>(tool: T, properties: Readonly<Record<string, unknown>>): T {
  const derived = Object.assign(askTool(tool), properties);
  Object.setPrototypeOf(derived, tool);
  for (const key of listGetters(tool)) {
    if (!Object.hasOwn(derived, key)) Object.defineProperty(derived, key, { get: () => Reflect.get(tool, key) });
  }
  return derived as T;
}

/** What code finds out about a tool by asking it, as far as the tool has it. A spread takes these along. */
function askTool(tool: object): object {
  const ask = (key: string): unknown => Reflect.get(tool, key);
  const asked = {
    get name() {
      return ask("name");
    },
    get description() {
      return ask("description");
    },
    get schema() {
      return ask("schema");
    },
    get returnDirect() {
      return ask("returnDirect");
    },
  };
  for (const key of Object.keys(asked)) if (!(key in tool)) Reflect.deleteProperty(asked, key);
  return asked;
}

/** Methods of every runnable, which lead to `invoke`. */
const METHODS = [
  "_streamIterator",
  "asTool",
  "batch",
  "pipe",
  "stream",
  "streamEvents",
  "streamLog",
  "transform",
  "withConfig",
  "withFallbacks",
  "withListeners",
  "withRetry",
] as const;

/** The methods that a tool's class has of its own, in LangChain's form: the class's may lead past `invoke`. */
export function restoreMethods(tool: object): Record<string, unknown> {
  const own = METHODS.filter((name) => name in tool && Reflect.get(tool, name) !== langchain.Runnable.prototype[name]);
  return Object.fromEntries(own.map((name) => [name, langchain.Runnable.prototype[name]]));
}

function listGetters(tool: object): readonly string[] {
  return [...ownGetters(tool), ...inheritedGetters(Object.getPrototypeOf(tool) as object | null)];
}

/** By class: sessions lock the same tools again and again. */
const inherited = new WeakMap<object, readonly string[]>();

/** Without those of LangChain's own classes, which have no `#private` fields. */
function inheritedGetters(base: object | null): readonly string[] {
  const { Runnable, RunnableToolLike, StructuredTool } = langchain;
  const ends: unknown[] = [Object, Runnable, RunnableToolLike, StructuredTool].map(({ prototype }) => prototype);
  if (base === null || ends.includes(base)) return [];
  const known = inherited.get(base) ?? listGetters(base);
  inherited.set(base, known);
  return known;
}

function ownGetters(one: object): string[] {
  return Object.getOwnPropertyNames(one).filter((name) => Object.getOwnPropertyDescriptor(one, name)?.get);
}
