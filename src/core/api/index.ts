/**
 * What a gate, a person's browser and the command line ask of the server, and what it answers: schemas, types, problems
 * and the table of endpoints. Not part of `intentlock/core`, so that who only decides does not carry it.
 *
 * @module
 */
export {
  createProblem,
  issuesSchema,
  type KnownChain,
  PROBLEM_MEDIA_TYPE,
  PROBLEMS,
  type Problem,
  type ProblemCode,
  type ProblemKind,
  problemSchema,
} from "../problem.ts";
export * from "./admin-audit.ts";
export * from "./agents.ts";
export * from "./audit.ts";
export * from "./audit-entry.ts";
export * from "./budgets.ts";
export * from "./calls.ts";
export * from "./decisions.ts";
export { describeApi } from "./describe-api.ts";
export * from "./endpoint.ts";
export { endpoints } from "./endpoints.ts";
export * from "./history.ts";
export * from "./holds.ts";
export * from "./leases.ts";
export * from "./parameters.ts";
export * from "./people.ts";
export * from "./plans.ts";
export * from "./policies.ts";
export * from "./read-message.ts";
export * from "./session.ts";
export * from "./signing-keys.ts";
export * from "./system.ts";
export * from "./values.ts";
export * from "./webhooks.ts";
