import type { Members } from "./peer.ts";

/** What a proxy lets through beside tool calls, if it is told to. */
export const PASSINGS = [
  "resources",
  "prompts",
  "completions",
  "instructions",
  "sampling",
  "elicitation",
  "roots",
] as const;

export type Passing = (typeof PASSINGS)[number];

/** Every message that may pass, by its method, and what it needs; null needs nothing. */
type Methods = Readonly<Record<string, Passing | null>>;

const CLIENT_REQUESTS: Methods = {
  "logging/setLevel": null,
  "resources/list": "resources",
  "resources/templates/list": "resources",
  "resources/read": "resources",
  "resources/subscribe": "resources",
  "resources/unsubscribe": "resources",
  "prompts/list": "prompts",
  "prompts/get": "prompts",
  "completion/complete": "completions",
};

const SERVER_REQUESTS: Methods = {
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
  "roots/list": "roots",
};

const CLIENT_NOTIFICATIONS: Methods = { "notifications/roots/list_changed": "roots" };

const SERVER_NOTIFICATIONS: Methods = {
  "notifications/message": null,
  "notifications/resources/updated": "resources",
  "notifications/resources/list_changed": "resources",
  "notifications/prompts/list_changed": "prompts",
  "notifications/elicitation/complete": "elicitation",
};

const CLIENT_CAPABILITIES: readonly Passing[] = ["sampling", "elicitation", "roots"];
const SERVER_CAPABILITIES: readonly Passing[] = ["resources", "prompts", "completions"];

/** What passes through a proxy, in which direction. Whatever is not named here does not. */
export class WhatPasses {
  readonly #allowed: ReadonlySet<Passing>;

  constructor(allowed: Iterable<Passing> = []) {
    this.#allowed = new Set(allowed);
  }

  has(passing: Passing): boolean {
    return this.#allowed.has(passing);
  }

  request(from: "client" | "server", method: string): boolean {
    return this.#passes(from === "client" ? CLIENT_REQUESTS : SERVER_REQUESTS, method);
  }

  notification(from: "client" | "server", method: string): boolean {
    return this.#passes(from === "client" ? CLIENT_NOTIFICATIONS : SERVER_NOTIFICATIONS, method);
  }

  /** The capabilities that the other side is told of: a side does not ask for what it does not know of. */
  capabilities(of: "client" | "server", given: unknown): Members {
    const known = (of === "client" ? CLIENT_CAPABILITIES : SERVER_CAPABILITIES).filter((name) => this.has(name));
    const names: readonly string[] = of === "server" ? ["tools", "logging", ...known] : known;
    const all = typeof given === "object" && given !== null ? (given as Members) : {};
    return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(all, name) ? [[name, all[name]]] : [])));
  }

  /** Why a request does not pass. */
  explain(from: "client" | "server", method: string): string {
    const methods = from === "client" ? CLIENT_REQUESTS : SERVER_REQUESTS;
    const needs = Object.hasOwn(methods, method) ? methods[method] : undefined;
    const hint = needs ? `: start it with --allow ${needs}` : "";
    return `Intentlock lets no ${method.slice(0, 100)} through${hint}`;
  }

  #passes(methods: Methods, method: string): boolean {
    const needs = Object.hasOwn(methods, method) ? methods[method] : undefined;
    return needs === null || (needs !== undefined && this.#allowed.has(needs));
  }
}
