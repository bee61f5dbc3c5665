import { z } from "zod";
import { MAX_APPROVAL_CHARACTERS } from "../approval-token.ts";
import type { OutcomeStatus } from "../audit.ts";
import type { Call } from "../call.ts";
import { MAX_TOKEN_CHARACTERS } from "../claims.ts";
import { countSchema, idSchema } from "../fields.ts";
import { closedObject, closedVariants, variant } from "../schema.ts";
import { BLOCK_REASONS, type BlockReason, type Decision, type Stage } from "../verdict.ts";
import { decisionSchema, stageSchema } from "./decisions.ts";
import type { Endpoint } from "./endpoint.ts";

/** Why a call is refused before a gate is asked. */
export interface Refusal {
  readonly reason: BlockReason;
  readonly stage: Stage;
  readonly detail: string;
}

/** A call on its way through a gate. */
export interface GateCall extends Call {
  /** A signed approval token, from a hold that a person approved. */
  readonly approval?: string;
  /** Set if the call is refused before the gate is asked: the gate answers so, whatever `check()` says, and records it. */
  readonly refusal?: Refusal;
}

/** What became of a call that was allowed, or of a plan. */
export type Outcome =
  | {
      readonly type: "outcome";
      readonly planId: string;
      /** `seq` of the decision that allowed the call. */
      readonly decisionSeq: number;
      /** `aborted` says that the tool never started: what the call took is given back. */
      readonly status: OutcomeStatus;
      readonly durationMs?: number;
      /**
       * What the call gave: any value that JSON can print. It is only looked at, and only travels, where a `from` of the plan
       * names the step that allowed the call; nothing keeps it on a disk.
       */
      readonly result?: unknown;
    }
  /** No more calls. Outcomes of calls that were allowed before may still come. */
  | { readonly type: "closed"; readonly planId: string };

/** Asks for a decision. */
export interface CheckBody {
  readonly planId: string;
  /** Any token of the plan that was signed. */
  readonly token: string;
  /** Without arguments if they are no JSON: the decision says so. */
  readonly call: Omit<GateCall, "args"> & { readonly args?: unknown };
  /** Decide only: nothing is reserved and nothing is recorded. */
  readonly peek?: boolean;
}

export interface CheckAnswer {
  readonly decision: Decision;
}

export interface OutcomeBody {
  readonly outcome: Outcome;
}

export interface OutcomeAnswer {
  readonly recorded: true;
}

export const outcomeStatusSchema: z.ZodType<OutcomeStatus> = z.enum(["ok", "failed", "aborted", "unknown"]);

/** How long a tool ran, in milliseconds. */
export const durationSchema: z.ZodType<number> = z.number().min(0);

const refusal: z.ZodType<Refusal> = closedObject({
  reason: z.enum(BLOCK_REASONS as [BlockReason, ...BlockReason[]]),
  stage: stageSchema,
  detail: z.string().max(2000),
});

/** Names and ids are texts of any kind: which are well-formed is for `check()` to say, so that it is a decision. */
export const checkBodySchema: z.ZodType<CheckBody> = closedObject({
  planId: idSchema,
  token: z.string().max(MAX_TOKEN_CHARACTERS),
  call: closedObject({
    callId: z.string(),
    tool: z.string(),
    args: z.unknown().exactOptional(),
    fingerprint: z.string().exactOptional(),
    approval: z.string().max(MAX_APPROVAL_CHARACTERS).exactOptional(),
    refusal: refusal.exactOptional(),
  }),
  peek: z.boolean().exactOptional(),
});

export const checkAnswerSchema: z.ZodType<CheckAnswer> = z.object({ decision: decisionSchema });

export const outcomeSchema: z.ZodType<Outcome> = closedVariants("type", [
  variant({
    type: z.literal("outcome"),
    planId: idSchema,
    decisionSeq: countSchema,
    status: outcomeStatusSchema,
    durationMs: durationSchema.exactOptional(),
    result: z.unknown().exactOptional(),
  }),
  variant({ type: z.literal("closed"), planId: idSchema }),
]);

/** Deciding calls, and what becomes of them. */
export const callEndpoints: {
  readonly check: Endpoint<CheckBody, CheckAnswer>;
  readonly recordOutcome: Endpoint<OutcomeBody, OutcomeAnswer>;
} = {
  check: {
    method: "POST",
    path: "/v1/check",
    summary: "Decides about a call, reserves what it takes and records the decision",
    auth: ["agent"],
    body: checkBodySchema,
    maxBodyBytes: 8_388_608,
    answers: { 200: checkAnswerSchema },
    problems: ["not_found"],
  },
  recordOutcome: {
    method: "POST",
    path: "/v1/outcomes",
    summary: "Records what became of an allowed call, or that a plan is done",
    auth: ["agent"],
    body: closedObject({ outcome: outcomeSchema }),
    maxBodyBytes: 8_388_608,
    answers: { 200: z.object({ recorded: z.literal(true) }) },
    problems: ["not_found", "outcome_not_expected", "plan_closed"],
  },
};
