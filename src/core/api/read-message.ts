import type { z } from "zod";
import type { Issue } from "../errors.ts";
import { freezeJson, type Json, JsonProblem } from "../json.ts";
import { cutIssues, findSchemaIssues, toIssue } from "../schema.ts";

/** A body or a query that a schema takes, or what is wrong with it. */
export type ReadMessage<T> =
  | { readonly valid: true; readonly value: T }
  | { readonly valid: false; readonly issues: readonly Issue[] };

/**
 * Reads what came over the network with the schema of an endpoint. Everything is copied first, so that what is checked is
 * what is used. Never throws because of the value.
 *
 * @returns what the schema gives: of an answer, without the fields that it does not know; e-mail addresses of requests
 * normalised. The issues say nothing of the values.
 */
export function readMessage<T>(schema: z.ZodType<T>, value: unknown): ReadMessage<T> {
  let copy: Json;
  try {
    copy = freezeJson(value);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    return { valid: false, issues: [{ path: error.path, message: error.message }] };
  }
  const result = schema.safeParse(copy);
  if (result.success) return { valid: true, value: result.data };
  return { valid: false, issues: cutIssues(findSchemaIssues(schema, copy).map(toIssue)) };
}
