import { z } from "zod";
import { personSchema, serverIdSchema } from "./values.ts";

/** The names of the parameters in an endpoint's path. */
export function listParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/**
 * The schema of a parameter of a path, decoded: `email` is a person, normalised; `version` is a number or `current`;
 * every other is an id that the server made.
 */
export function parameterSchema(name: string): z.ZodType<string> {
  switch (name) {
    case "email":
      return personSchema;
    case "version":
      return versionSchema;
    default:
      return serverIdSchema;
  }
}

const versionSchema: z.ZodType<string> = z
  .string()
  .regex(/^(?:current|[1-9]\d{0,8})$/, "expected a version or current");

/**
 * A path with its parameters filled in, to be added to the server's base URL.
 *
 * @throws TypeError for a parameter that is missing, or that would lead to another path (`..`)
 */
export function fillPath(path: string, parameters: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    // Dots are not escaped, and whoever reads the URL takes them for a step up.
    if (typeof value !== "string" || !value.isWellFormed() || /^\.*$/.test(value)) {
      throw new TypeError(`The parameter ${name} of the path is missing, or is none`);
    }
    return encodeURIComponent(value);
  });
}
