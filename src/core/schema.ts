import { z } from "zod";
import { type ErrorCode, IntentlockError, type Issue } from "./errors.ts";
import { freezeJson, isJsonObject, JsonProblem, MAX_JSON_BYTES } from "./json.ts";
import { parsePointer } from "./json-pointer.ts";
import { type Path, printPath } from "./path.ts";

/** As many problems as people read; a hostile document has a million. */
export const MAX_ISSUES = 100;

/**
 * An object with these fields and no others. Zod passes over an own key `__proto__` in silence; here it is an unknown
 * field like any other.
 */
export function closedObject<Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodPipe<z.ZodType<unknown>, z.ZodObject<Shape, z.core.$strict>> {
  return refuseProto(unknownFieldOf(shape)).pipe(variant(shape));
}

/** One of the {@link closedVariants}; a {@link closedObject} but for the key `__proto__`, which they look at themselves. */
export function variant<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const unknownField = unknownFieldOf(shape);
  return z.strictObject(shape, { error: ({ code }) => (code === "unrecognized_keys" ? unknownField : undefined) });
}

/** One of several closed objects: a field with a fixed value in each says which, and is looked at first. */
export function closedVariants<Variants extends readonly [z.ZodObject, ...z.ZodObject[]]>(
  field: string,
  variants: Variants,
): z.ZodPipe<z.ZodType<unknown>, z.ZodDiscriminatedUnion<Variants>> {
  const values = variants.flatMap(({ shape }) => [...((shape[field] as z.ZodLiteral | undefined)?.values ?? [])]);
  const message = `expected one of ${values.join(", ")}`;
  const choice = z.discriminatedUnion(field, variants, {
    error: ({ code }) => (code === "invalid_union" ? message : undefined),
  });
  return refuseProto("unknown field").pipe(choice);
}

function unknownFieldOf(shape: z.ZodRawShape): string {
  return `unknown field; there are: ${Object.keys(shape).join(", ")}`;
}

function refuseProto(message: string): z.ZodType<unknown> {
  return z.unknown().superRefine((value, context) => {
    if (!isJsonObject(value) || !Object.hasOwn(value, "__proto__")) return;
    context.addIssue({ code: "custom", path: ["__proto__"], message, params: { isKey: true } });
  });
}

/** An object whose keys are names that somebody chose: any, `__proto__` too, which `z.record` would pass over. */
export function namedValues<T>(value: z.ZodType<T>): z.ZodType<Readonly<Record<string, T>>> {
  return z.custom<Readonly<Record<string, T>>>().superRefine((named: unknown, context) => {
    if (!isJsonObject(named)) {
      context.addIssue({ code: "invalid_type", expected: "object", input: named, continue: false });
      return;
    }
    for (const [name, item] of Object.entries(named)) {
      if (context.issues.length > MAX_ISSUES) return;
      for (const issue of value.safeParse(item, IN_WORDS).error?.issues ?? []) {
        context.addIssue({ ...issue, path: [name, ...issue.path] } as unknown as Parameters<
          typeof context.addIssue
        >[0]);
      }
    }
  });
}

/** {@link namedValues} whose names are JSON Pointers. */
export function placedValues<T>(value: z.ZodType<T>): z.ZodType<Readonly<Record<string, T>>> {
  return namedValues(value).superRefine((placed, context) => {
    for (const path of Object.keys(placed)) {
      const [first] = parsePointer(path) ?? [];
      // The arguments are no list.
      if (first !== undefined && first !== "*") continue;
      const message = "expected a JSON Pointer into the arguments, like /to/address or /items/*/email";
      context.addIssue({ code: "custom", path: [path], message, params: { isKey: true } });
    }
  });
}

/** The schema for objects that say something: `{}` is refused with this message. */
export function notEmpty<T>(schema: z.ZodType<T>, message: string): z.ZodType<T> {
  return z
    .unknown()
    .refine((value) => !isJsonObject(value) || Object.keys(value).length > 0, message)
    .pipe(schema as z.ZodType<T, unknown>);
}

/** A problem that a schema found, with the path's parts, so that a document can be asked for the place. */
export interface SchemaIssue {
  readonly parts: Path;
  /** The problem is with the name of the last part, not with its value. */
  readonly isKey: boolean;
  readonly message: string;
}

/** What is wrong with a value, in our words instead of Zod's; nothing if the schema takes it. */
export function findSchemaIssues(schema: z.ZodType, value: unknown): SchemaIssue[] {
  const { error } = schema.safeParse(value, IN_WORDS);
  return error ? listSchemaIssues(error) : [];
}

/**
 * A frozen copy of a value that a schema takes.
 *
 * @throws IntentlockError with the given code, naming the first problem
 */
export function parseChecked<T>(
  schema: z.ZodType<T>,
  value: unknown,
  {
    code,
    what,
    maxBytes = MAX_JSON_BYTES,
  }: { readonly code: ErrorCode; readonly what: string; readonly maxBytes?: number },
): T {
  let problem: Issue | undefined;
  try {
    const copy = freezeJson(value, maxBytes);
    [problem] = findSchemaIssues(schema, copy).map(toIssue);
    if (!problem) return copy as T;
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    problem = error;
  }
  throw new IntentlockError(code, `${what} not valid: ${problem.path ? `${problem.path}: ` : ""}${problem.message}`);
}

/** Zod's issues, flattened: each unknown field is one, and of a union the branch that came closest. */
function listSchemaIssues(error: z.ZodError): SchemaIssue[] {
  return error.issues.flatMap((issue) => flatten(issue, []));
}

export function toIssue({ parts, message }: SchemaIssue): Issue {
  return { path: printPath(parts), message };
}

/** The first {@link MAX_ISSUES}, and that there are more. */
export function cutIssues(issues: readonly Issue[]): readonly Issue[] {
  if (issues.length <= MAX_ISSUES) return issues;
  return [...issues.slice(0, MAX_ISSUES), { path: "", message: "there are more problems than are listed" }];
}

function flatten(issue: z.core.$ZodIssue, before: Path): SchemaIssue[] {
  const parts = [...before, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
  if (issue.code === "unrecognized_keys") {
    return issue.keys
      .slice(0, MAX_ISSUES + 1)
      .map((key) => ({ parts: [...parts, key], isKey: true, message: issue.message }));
  }
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const closest = issue.errors.reduce((best, branch) => (depth(branch) > depth(best) ? branch : best));
    // No branch went further than the value itself: what the union says of it is clearer than what one branch says.
    if (depth(closest) > 0) return closest.flatMap((inner) => flatten(inner, parts));
  }
  const isKey = issue.code === "custom" && issue.params?.["isKey"] === true;
  return [{ parts, isKey, message: issue.message.replace(/^Invalid input: /, "") }];
}

function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...issues.map((issue) => issue.path.length));
}

const IN_WORDS = { error: explain };

const WORDS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  string: "text",
};
const UNITS: Readonly<Record<string, string>> = { array: " items", string: " characters" };

/** The text of a problem for which the schema itself has none. */
function explain(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `${describe(issue.input)}expected ${WORDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `${describe(issue.input)}expected one of ${issue.values.map(String).join(", ")}`;
    case "too_big":
      return `expected at most ${issue.maximum}${UNITS[issue.origin] ?? ""}`;
    case "too_small":
      return `expected at least ${issue.minimum}${UNITS[issue.origin] ?? ""}`;
    default:
      return undefined;
  }
}

/** The value itself may be long or secret. */
function describe(input: unknown): string {
  if (input === undefined) return "missing; ";
  return input === null ? "empty; " : "";
}
