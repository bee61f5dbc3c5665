import type { Json, PlanCondition, PolicyCondition } from "../../src/core/index.ts";
import { matchesGlob } from "./glob.ts";
import { isFound } from "./sources.ts";
import { type Found, isSame, listPlaces, ownValue, partsOf } from "./values.ts";
import type { Asked, World } from "./world.ts";

export type Condition = PlanCondition & PolicyCondition;

/** Conditions for arguments and for places in them. */
export interface Conditions {
  readonly args?: Readonly<Record<string, Condition>>;
  readonly at?: Readonly<Record<string, Condition>>;
}

/** Whether all conditions for arguments, and for places in them, hold. */
export function allHold(world: World, { args = {}, at = {} }: Conditions, call: Asked): boolean {
  return (
    Object.entries(args).every(([name, condition]) => holds(world, condition, ownValue(call.args, name))) &&
    Object.entries(at).every(([pointer, condition]) =>
      listPlaces(call.args, partsOf(pointer)).every((found) => holds(world, condition, found)),
    )
  );
}

/** Whether every operator of a condition holds. */
export function holds(world: World, condition: Condition, found: Found): boolean {
  const { optional, ...rest } = condition;
  const operators = Object.entries(rest);
  if (optional) world.onOperator?.("optional", found.is === "missing");
  if (optional && found.is === "missing") return true;
  if (operators.length === 0) return found.is === "value";
  return operators.every(([operator, operand]) => {
    const said = says(world, { operator, operand }, found);
    world.onOperator?.(operator, said);
    return said;
  });
}

interface Operation {
  readonly operator: string;
  readonly operand: unknown;
}

function says(world: World, { operator, operand }: Operation, found: Found): boolean {
  const value = found.is === "value" ? found.value : undefined;
  switch (operator) {
    case "absent":
      return found.is === "missing";
    case "notIn":
      return value === undefined || !isOneOf(operand as Json[], value);
    case "notGlob":
      return typeof value !== "string" || !matchesGlob(operand as string, value);
    case "anyOf":
      return (operand as Condition[]).some((condition) => holds(world, condition, found));
    default:
      return value !== undefined && saysOf(world, { operator, operand }, value);
  }
}

/** What an operator says that needs the argument to be there. */
function saysOf(world: World, { operator, operand }: Operation, value: Json): boolean {
  switch (operator) {
    case "eq":
      return isSame(value, operand as Json);
    case "in":
      return isOneOf(operand as Json[], value);
    case "glob":
      return typeof value === "string" && matchesGlob(operand as string, value);
    case "regex":
      return typeof value === "string" && new RegExp(`^(?:${operand as string})$`, "u").test(value);
    case "lte":
      return typeof value === "number" && value <= (operand as number);
    case "gte":
      return typeof value === "number" && value >= (operand as number);
    case "each":
      return Array.isArray(value) && value.every((item: Json) => holds(world, operand as Condition, given(item)));
    case "maxItems":
      return Array.isArray(value) && value.length <= (operand as number);
    case "from":
      return isFound(world, operand as NonNullable<PlanCondition["from"]>, value);
    default:
      throw new Error(`no such operator: ${operator}`);
  }
}

function given(value: Json): Found {
  return { is: "value", value, path: [] };
}

function isOneOf(values: readonly Json[], value: Json): boolean {
  return values.some((one) => isSame(one, value));
}
