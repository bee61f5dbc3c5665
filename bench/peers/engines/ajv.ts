import type { PolicyRule } from "intentlock/core";
import { conditionsOf, type Engine, globSource, loadPeer, type PeerCall, toolOf } from "../engine.ts";

interface AjvModule {
  readonly Ajv: new (options: object) => { compile(schema: unknown): (value: unknown) => boolean };
}

/** A validator of the whole call for each rule, generated from a JSON Schema; the first that accepts decides. */
export const ajv: Engine = {
  name: "ajv, one schema a rule",
  async compile(rules) {
    const compiler = new (loadPeer<AjvModule>("ajv").Ajv)({ strict: false, ownProperties: true });
    const validators = rules.map((rule) => ({ id: rule.id, accepts: compiler.compile(toSchema(rule)) }));
    return {
      request: ({ tool, args, user }: PeerCall) => ({ tool, args, roles: user.roles }),
      decide: (call: unknown) => validators.find(({ accepts }) => accepts(call))?.id,
    };
  },
};

function toSchema(rule: PolicyRule): unknown {
  const tool = toolOf(rule);
  const role = rule.match.user?.role;
  const conditions = conditionsOf(rule).flatMap(([name, condition]) =>
    Object.entries(condition).map(([operator, wanted]) => toArgsSchema(name, operator, wanted)),
  );
  return {
    properties: {
      tool: "exact" in tool ? { const: tool.exact } : { pattern: globSource(`${tool.prefix}*`) },
      ...(conditions.length > 0 && { args: { allOf: conditions } }),
      ...(role !== undefined && { roles: { contains: { const: role } } }),
    },
  };
}

function toArgsSchema(name: string, operator: string, wanted: unknown): unknown {
  const text = (source: string) => ({ type: "string", pattern: source });
  const present = (schema: unknown) => ({ required: [name], properties: { [name]: schema } });
  switch (operator) {
    case "eq":
      return present({ const: wanted });
    case "in":
      return present({ enum: wanted });
    case "notIn":
      return { properties: { [name]: { not: { enum: wanted } } } };
    case "glob":
      return present(text(globSource(String(wanted))));
    case "notGlob":
      return { properties: { [name]: { not: text(globSource(String(wanted))) } } };
    case "regex":
      return present(text(`^(?:${wanted})$`));
    case "lte":
      return present({ type: "number", maximum: wanted });
    default:
      return present({ type: "number", minimum: wanted });
  }
}
