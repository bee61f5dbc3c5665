import { z } from "zod";
import type { Issue } from "./errors.ts";
import { isJsonObject } from "./json.ts";
import { type Path, printPath } from "./path.ts";

/**
 * An object with these fields and no others. Zod passes over an own key `__proto__` in silence; here it is an unknown
 * field like any other.
 */
export function closedObject<Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodPipe<z.ZodType<unknown>, z.ZodObject<Shape, z.core.$strict>> {
  return z
    .unknown()
    .refine((value) => !isJsonObject(value) || !Object.hasOwn(value, "__proto__"), {
      error: "unknown field __proto__",
      abort: true,
    })
    .pipe(z.strictObject(shape));
}

/** An object whose keys are names that somebody chose: any, `__proto__` too, which `z.record` would pass over. */
export function namedValues<T>(value: z.ZodType<T>): z.ZodType<Readonly<Record<string, T>>> {
  return z.custom<Readonly<Record<string, T>>>().superRefine((named: unknown, context) => {
    if (!isJsonObject(named)) {
      context.addIssue({ code: "custom", message: "expected object" });
      return;
    }
    for (const [name, item] of Object.entries(named)) {
      const result = value.safeParse(item);
      for (const issue of result.error?.issues ?? []) {
        context.addIssue({ ...issue, path: [name, ...issue.path] } as unknown as Parameters<
          typeof context.addIssue
        >[0]);
      }
    }
  });
}

/** A problem that a schema found, with the path's parts, so that a document can be asked for the place. */
export interface SchemaIssue {
  readonly parts: Path;
  /** The problem is with the name of the last part, not with its value. */
  readonly isKey: boolean;
  readonly message: string;
}

/** Zod's issues, flattened: each unknown field is one, and of a union the branch that came closest. */
export function listSchemaIssues(error: z.ZodError): SchemaIssue[] {
  return error.issues.flatMap((issue) => flatten(issue, []));
}

export function toIssue({ parts, message }: SchemaIssue): Issue {
  return { path: printPath(parts), message };
}

function flatten(issue: z.core.$ZodIssue, before: Path): SchemaIssue[] {
  const parts = [...before, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ parts: [...parts, key], isKey: true, message: "unknown field" }));
  }
  if (issue.code === "invalid_key") {
    return issue.issues.map((inner) => ({ parts, isKey: true, message: inner.message }));
  }
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const closest = issue.errors.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best));
    return closest.flatMap((inner) => flatten(inner, parts));
  }
  return [{ parts, isKey: false, message: issue.message.replace(/^Invalid input: /, "") }];
}

function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}
