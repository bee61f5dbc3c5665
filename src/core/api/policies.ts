import { z } from "zod";
import type { Issue } from "../errors.ts";
import { countSchema, toolNameSchema } from "../fields.ts";
import { MAX_POLICY_BYTES } from "../policy.ts";
import { issuesSchema } from "../problem.ts";
import { closedObject } from "../schema.ts";
import type { Decision } from "../verdict.ts";
import { reasonSchema } from "./decisions.ts";
import type { Endpoint } from "./endpoint.ts";
import {
  argsSchema,
  commentSchema,
  type ListQuery,
  listQuerySchema,
  momentSchema,
  personSchema,
  serverIdSchema,
  titleSchema,
} from "./values.ts";

/** The most decisions that are made again, and the most sample calls. */
export const MAX_REPLAY = 1000;

/** As many bytes of arguments as a row of a policy's test has. */
export const MAX_ROW_ARGS_BYTES = 10_000;

export interface ValidatePolicyBody {
  /** YAML. */
  readonly text: string;
}

export interface ValidatePolicyAnswer {
  readonly valid: boolean;
  readonly issues: readonly Issue[];
}

/** A call to try a policy on: as if a plan had its tool without conditions. */
export interface SampleCall {
  readonly callId?: string;
  readonly tool: string;
  readonly args: unknown;
  /** E-mail of a person that the server knows; the first administrator unless told. */
  readonly user?: string;
}

/** Asks which decisions would come out otherwise. */
export interface TestPolicyBody {
  /** The agent's name. */
  readonly agent: string;
  /** YAML. */
  readonly text: string;
  /** How many of the agent's last decisions to make again. */
  readonly replay?: number;
  readonly calls?: readonly SampleCall[];
}

export interface VerdictSummary {
  readonly verdict: Decision["verdict"];
  readonly reason?: string;
  readonly rule?: string;
}

/** A call under the policy as it is and as it would be. */
export interface PolicyTestRow {
  readonly callId: string;
  readonly tool: string;
  /** Of a decision that was made again; absent for a sample. */
  readonly planId?: string;
  readonly seq?: number;
  /** Of the same, for administrators alone: when, for whom, and the arguments up to {@link MAX_ROW_ARGS_BYTES}. */
  readonly at?: number;
  readonly user?: string;
  readonly args?: unknown;
  /** Null if the agent has no policy yet. */
  readonly before: VerdictSummary | null;
  readonly after: VerdictSummary;
  readonly changed: boolean;
}

export interface TestPolicyAnswer {
  readonly rows: readonly PolicyTestRow[];
  /** How many rows have changed. */
  readonly changed: number;
  /** How many decisions could not be made again: their arguments were redacted. */
  readonly notRecomputable: number;
}

export interface PushPolicyBody extends ValidatePolicyBody {
  readonly comment?: string;
  /** The version that it was written on, 0 for none: refused if another one counts by then. Not given: whichever does. */
  readonly baseVersion?: number;
}

/** A policy of an agent, and when it became the one. Every version is kept; the highest is the one that counts. */
export interface PolicyVersion {
  readonly agentId: string;
  readonly version: number;
  readonly createdAt: number;
  /** Who pushed it: an e-mail, or `cli`. */
  readonly createdBy: string;
  readonly comment?: string;
}

export interface PolicyAnswer extends PolicyVersion {
  readonly text: string;
}

export interface PoliciesAnswer {
  /** The newest first. */
  readonly policies: readonly PolicyVersion[];
  readonly next?: string;
}

const text = z.string().max(MAX_POLICY_BYTES);

export const validatePolicyBodySchema: z.ZodType<ValidatePolicyBody> = closedObject({ text });

const sampleCall: z.ZodType<SampleCall> = closedObject({
  callId: z.string().max(200).exactOptional(),
  tool: toolNameSchema,
  args: argsSchema,
  user: personSchema.exactOptional(),
});

export const testPolicyBodySchema: z.ZodType<TestPolicyBody> = closedObject({
  agent: titleSchema,
  text,
  replay: z.int().min(0).max(MAX_REPLAY).exactOptional(),
  calls: z.array(sampleCall).max(MAX_REPLAY).exactOptional(),
});

const summary: z.ZodType<VerdictSummary> = z.object({
  verdict: z.enum(["allow", "hold", "block"]),
  reason: reasonSchema.exactOptional(),
  rule: z.string().exactOptional(),
});

const row: z.ZodType<PolicyTestRow> = z.object({
  callId: z.string(),
  tool: z.string(),
  planId: z.string().exactOptional(),
  seq: countSchema.exactOptional(),
  at: momentSchema.exactOptional(),
  user: z.string().exactOptional(),
  args: argsSchema.exactOptional(),
  before: summary.nullable(),
  after: summary,
  changed: z.boolean(),
});

export const testPolicyAnswerSchema: z.ZodType<TestPolicyAnswer> = z.object({
  rows: z.array(row),
  changed: countSchema,
  notRecomputable: countSchema,
});

export const pushPolicyBodySchema: z.ZodType<PushPolicyBody> = closedObject({
  text,
  comment: commentSchema.exactOptional(),
  baseVersion: z.int().min(0).exactOptional(),
});

const version = {
  agentId: serverIdSchema,
  version: z.int().min(1),
  createdAt: momentSchema,
  createdBy: z.string(),
  comment: commentSchema.exactOptional(),
};

export const policyVersionSchema: z.ZodType<PolicyVersion> = z.object(version);

export const policyAnswerSchema: z.ZodType<PolicyAnswer> = z.object({ ...version, text });

const POLICY_BYTES = 4_194_304;

/** Policies of agents, and what they would change. */
export const policyEndpoints: {
  readonly validatePolicy: Endpoint<ValidatePolicyBody, ValidatePolicyAnswer>;
  readonly testPolicy: Endpoint<TestPolicyBody, TestPolicyAnswer>;
  readonly pushPolicy: Endpoint<PushPolicyBody, PolicyVersion>;
  readonly listPolicies: Endpoint<undefined, PoliciesAnswer, ListQuery>;
  readonly getPolicy: Endpoint<undefined, PolicyAnswer>;
} = {
  validatePolicy: {
    method: "POST",
    path: "/v1/policies/validate",
    summary: "Says what is wrong with a policy's text",
    auth: ["agent", "person"],
    body: validatePolicyBodySchema,
    maxBodyBytes: POLICY_BYTES,
    answers: { 200: z.object({ valid: z.boolean(), issues: issuesSchema }) },
  },
  testPolicy: {
    method: "POST",
    path: "/v1/policies/test",
    summary: "Says which of an agent's last decisions, and of sample calls, would come out otherwise",
    auth: ["agent", "admin"],
    body: testPolicyBodySchema,
    maxBodyBytes: 2 * POLICY_BYTES,
    answers: { 200: testPolicyAnswerSchema },
    problems: ["invalid_policy", "unknown_user", "not_found"],
  },
  pushPolicy: {
    method: "POST",
    path: "/v1/agents/{agentId}/policies",
    summary: "Makes a policy the agent's own, from the next token on",
    auth: ["admin"],
    body: pushPolicyBodySchema,
    maxBodyBytes: POLICY_BYTES,
    answers: { 201: policyVersionSchema },
    problems: ["invalid_policy", "policy_changed"],
  },
  listPolicies: {
    method: "GET",
    path: "/v1/agents/{agentId}/policies",
    summary: "The versions of an agent's policy",
    auth: ["admin"],
    query: listQuerySchema,
    answers: { 200: z.object({ policies: z.array(policyVersionSchema), next: z.string().exactOptional() }) },
  },
  getPolicy: {
    method: "GET",
    path: "/v1/agents/{agentId}/policies/{version}",
    summary: "One version of an agent's policy, with its text; `current` is the highest",
    auth: ["admin"],
    answers: { 200: policyAnswerSchema },
  },
};
