import { z } from "zod";
import type { Spent } from "../budget.ts";
import { countSchema } from "../fields.ts";
import { closedObject } from "../schema.ts";
import type { Endpoint } from "./endpoint.ts";
import { OVER } from "./plans.ts";
import { spentSchema } from "./values.ts";

export interface ReserveBudgetBody {
  /** What shall be reserved in all since the plan began, what its calls have taken included. Asked twice, it is once. */
  readonly total: Spent;
}

export interface ReserveBudgetAnswer {
  /** What is reserved in all: less than was asked for if there is no more, and never less than before. */
  readonly reserved: Spent;
}

export const reserveBudgetBodySchema: z.ZodType<ReserveBudgetBody> = closedObject({
  total: closedObject({ calls: countSchema, payoutMicros: countSchema }),
});

export const reserveBudgetAnswerSchema: z.ZodType<ReserveBudgetAnswer> = z.object({ reserved: spentSchema });

/** What a client that decides itself may take from the budget of the plan's person. */
export const budgetEndpoints: { readonly reserveBudget: Endpoint<ReserveBudgetBody, ReserveBudgetAnswer> } = {
  reserveBudget: {
    method: "POST",
    path: "/v1/plans/{planId}/budget",
    summary:
      "Reserves a portion of the budget of a plan's person for a client that decides itself, until the plan is closed",
    auth: ["agent"],
    body: reserveBudgetBodySchema,
    answers: { 200: reserveBudgetAnswerSchema },
    problems: [...OVER, "user_not_allowed"],
  },
};
