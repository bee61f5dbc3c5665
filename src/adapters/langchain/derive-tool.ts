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

function listGetters(tool: object): string[] {
  const names = new Set<string>();
  for (let one = tool; one && one !== Object.prototype; one = Object.getPrototypeOf(one) as object) {
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(one))) if (get) names.add(name);
  }
  return [...names];
}
