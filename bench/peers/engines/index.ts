import type { Engine } from "../engine.ts";
import { ajv } from "./ajv.ts";
import { casbin } from "./casbin.ts";
import { casl } from "./casl.ts";
import { cedar } from "./cedar.ts";
import { jsonLogicEngine } from "./json-logic-engine.ts";
import { jsonRulesEngine } from "./json-rules-engine.ts";

/** What a user would take instead. */
export const libraries: readonly Engine[] = [cedar, casbin, casl, jsonRulesEngine, jsonLogicEngine, ajv];
