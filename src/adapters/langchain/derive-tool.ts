import { langchain } from "./langchain-core.ts";

/** What code finds out about a tool by asking it. A spread takes these along. */
const ASKED = ["name", "description", "schema", "returnDirect"];

/**
 * An object that is the tool but for these properties. Its getters are asked of the tool itself: an object that derives
 * from another does not have its `#private` fields.
 */
export function deriveTool<T extends object>(tool: T, properties: Readonly<Record<string, unknown>>): T {
  const descriptors: PropertyDescriptorMap = {};
  for (const key of [...ASKED, ...listGetters(tool)]) {
    if (key in tool) descriptors[key] = { get: () => Reflect.get(tool, key), enumerable: ASKED.includes(key) };
  }
  for (const [key, value] of Object.entries(properties)) {
    descriptors[key] = { value, enumerable: true, configurable: true, writable: true };
  }
  return Object.create(tool, descriptors) as T;
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
  const base = Object.getPrototypeOf(tool) as object | null;
  return [...ownGetters(tool), ...(base === null || base === Object.prototype ? [] : inheritedGetters(base))];
}

/** By class: sessions lock the same tools again and again. */
const inherited = new WeakMap<object, readonly string[]>();

function inheritedGetters(base: object): readonly string[] {
  const known = inherited.get(base) ?? listGetters(base);
  inherited.set(base, known);
  return known;
}

function ownGetters(one: object): string[] {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(one));
  return descriptors.filter(([, { get }]) => get !== undefined).map(([name]) => name);
}
