/**
 * An object that looks like another with these properties on top, and keeps what is written to it for itself. For large
 * objects, of which a copy would take longer than all else that is done for a call.
 */
export function overlay(below: object, properties: object): object {
  return new Proxy({}, new Overlay(below, properties));
}

class Overlay implements ProxyHandler<object> {
  readonly #below: object;
  readonly #own: object;

  constructor(below: object, properties: object) {
    this.#below = below;
    this.#own = { ...properties };
  }

  get(_target: object, key: PropertyKey, receiver: unknown): unknown {
    return Object.hasOwn(this.#own, key) ? Reflect.get(this.#own, key) : Reflect.get(this.#below, key, receiver);
  }

  set(_target: object, key: PropertyKey, value: unknown): boolean {
    return Reflect.set(this.#own, key, value);
  }

  has(_target: object, key: PropertyKey): boolean {
    return Object.hasOwn(this.#own, key) || key in this.#below;
  }

  getPrototypeOf(): object | null {
    return Object.getPrototypeOf(this.#below) as object | null;
  }

  ownKeys(): (string | symbol)[] {
    return [...new Set([...Reflect.ownKeys(this.#below), ...Reflect.ownKeys(this.#own)])];
  }

  getOwnPropertyDescriptor(_target: object, key: PropertyKey): PropertyDescriptor | undefined {
    const descriptor =
      Object.getOwnPropertyDescriptor(this.#own, key) ?? Object.getOwnPropertyDescriptor(this.#below, key);
    // What is said to be there for ever would have to be on the target.
    return descriptor && { ...descriptor, configurable: true };
  }
}
