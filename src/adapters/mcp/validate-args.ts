import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../../core/index.ts";
import { compileRegex } from "../../core/regex.ts";
import type { SessionTool } from "../../session/index.ts";

/** Says what is wrong with arguments; undefined if nothing is. */
export type ArgsValidator = (args: JsonObject) => string | undefined;

const validators = new WeakMap<SessionTool, ArgsValidator>();

/** Checks arguments against a tool's input schema, formats included. Compiled once for each tool. */
export function validateArgs(tool: SessionTool, args: JsonObject): string | undefined {
  let validate = validators.get(tool);
  if (!validate) {
    validate = compileSchema(tool.inputSchema);
    validators.set(tool, validate);
  }
  return validate(args);
}

/** A schema that cannot be compiled takes no arguments: nothing is let through because nothing could be checked. */
export function compileSchema(schema: Json): ArgsValidator {
  const validate = isJsonObject(schema) ? compileIn(dialectsOf(schema), schema) : undefined;
  if (!validate) return () => "the input schema of the tool cannot be used";
  return (args) => {
    try {
      return validate(args) === true ? undefined : describeFault(validate.errors);
    } catch {
      return "the arguments cannot be checked";
    }
  };
}

type Dialect = new (options: Options) => Ajv;

/** MCP's is 2020-12 unless a schema says otherwise; many servers still write draft 7, and do not say so. */
function dialectsOf({ $schema }: JsonObject): readonly Dialect[] {
  const isOld = typeof $schema === "string" && /draft-0[67]/.test($schema);
  return isOld ? [Ajv] : typeof $schema === "string" ? [Ajv2020] : [Ajv2020, Ajv];
}

function compileIn(dialects: readonly Dialect[], schema: JsonObject): ValidateFunction | undefined {
  for (const dialect of dialects) {
    try {
      const validate = createAjv(dialect).compile(schema as AnySchemaObject);
      // An asynchronous one answers with a promise, which looks like a yes.
      return "$async" in validate ? undefined : validate;
    } catch {
      // The next dialect may know what this one does not.
    }
  }
  return undefined;
}

/** One for each schema: those of a server may have the same `$id`. */
function createAjv(dialect: Dialect): Ajv {
  const ajv = new dialect({
    strict: false,
    validateSchema: false,
    meta: false,
    logger: false,
    // `constructor` is not there because every object has one.
    ownProperties: true,
    code: { regExp: Object.assign(linearRegExp, { code: "linearRegExp" }) },
  });
  ajvFormats.default(ajv);
  // Its own compares every item with every other.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({ keyword: "uniqueItems", type: "array", schemaType: "boolean", validate: areUnique });
  return ajv;
}

function areUnique(wanted: boolean, items: readonly Json[]): boolean {
  return !wanted || new Set(items.map((item) => canonicalJson(item))).size === items.length;
}

/** A pattern of the server must not stall a decision: RE2 where it can be, and left to the server where it cannot. */
function linearRegExp(pattern: string): { test(text: string): boolean } {
  try {
    const matcher = compileRegex(`(?s:.*)(?:${assertAlone(pattern)})(?s:.*)`);
    return { test: (text) => matcher.matches(text) };
  } catch {
    return { test: () => true };
  }
}

/** So that it cannot close the group that it is put into. @throws PatternError if it is no expression */
function assertAlone(pattern: string): string {
  compileRegex(pattern);
  return pattern;
}

/** Names only: the values are the model's, and it knows them. */
function describeFault(errors: readonly ErrorObject[] | null | undefined): string {
  const [error] = errors ?? [];
  if (!error) return "the arguments do not fit the schema";
  const where = error.instancePath === "" ? "the arguments" : error.instancePath.slice(1, 200);
  const extra: unknown = error.params["additionalProperty"];
  const name = typeof extra === "string" ? `: ${JSON.stringify(extra.slice(0, 100))}` : "";
  return `${where} ${(error.message ?? "do not fit the schema").slice(0, 200)}${name}`;
}
