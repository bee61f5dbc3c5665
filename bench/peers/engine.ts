import { createRequire } from "node:module";
import type { JsonObject, PolicyCondition, PolicyRule } from "intentlock/core";

/** What a policy is asked about. */
export interface PeerCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly user: { readonly email: string; readonly roles: readonly string[]; readonly groups: readonly string[] };
}

/** Something that can decide by rules in our policies' words: one row of the comparison. */
export interface Engine {
  readonly name: string;
  /** @throws Unsupported for a rule that it cannot express without code of one's own in its place */
  compile(rules: readonly PolicyRule[]): Promise<CompiledEngine>;
}

export interface CompiledEngine {
  /** The call as the engine wants it, made outside of the time. @throws Unsupported for a call that it cannot be told */
  request(call: PeerCall): unknown;
  /** The id of the first rule that matches. */
  decide(request: never): string | undefined | Promise<string | undefined>;
}

/** What an engine cannot express. */
export class Unsupported extends Error {}

/** A library of this folder's own `node_modules`, known by the small shape that is used of it. */
export function loadPeer<Shape>(name: string): Shape {
  return createRequire(import.meta.url)(name) as Shape;
}

/** The tool of a rule: an exact name, or what it starts with if the glob has one star, at its end. */
export function toolOf({ match: { tool } }: PolicyRule): { readonly exact: string } | { readonly prefix: string } {
  if (typeof tool !== "string") throw new Error("only rules that name one tool are compared");
  return tool.endsWith("*") ? { prefix: tool.slice(0, -1) } : { exact: tool };
}

export function conditionsOf({ match: { args = {} } }: PolicyRule): [name: string, PolicyCondition][] {
  return Object.entries(args);
}

/** A glob with one star, at its end, as the source of an expression that has to match the whole text. */
export function globSource(glob: string): string {
  if (!/^[^*?[{]+\*$/.test(glob)) throw new Error(`only globs with one star at the end are compared: ${glob}`);
  const prefix = glob.slice(0, -1);
  // A star alone between slashes stands neither for nothing nor for a dot or two.
  return `^${escapeText(prefix)}${prefix.endsWith("/") ? "(?!\\.{1,2}$)[^/]+" : "[^/]*"}$`;
}

function escapeText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
