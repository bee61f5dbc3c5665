import { z } from "zod";
import type { JsonObject } from "./json.ts";
import { closedObject, parseChecked } from "./schema.ts";
import type { BudgetRemaining } from "./verdict.ts";

/** Limits on calls and on money, beside the policy. What is not given is not limited. */
export interface Budget {
  /** For one plan. */
  readonly session?: BudgetLimit;
  /** For one person over all their plans, in windows of `windowSeconds`. */
  readonly principal?: BudgetLimit & { readonly windowSeconds: number };
  /** The arguments that are money, and what one unit of them is worth. */
  readonly payouts?: readonly Payout[];
}

export interface BudgetLimit {
  readonly calls?: number;
  /** USD micros. */
  readonly payoutMicros?: number;
}

export interface Payout {
  readonly tool: string;
  readonly arg: string;
  /** USD micros per unit of the argument. */
  readonly microsPerUnit: number;
}

/** What has been taken from a budget so far. */
export interface Ledger {
  readonly session: Spent;
  readonly principal: Spent;
}

export interface Spent {
  readonly calls: number;
  readonly payoutMicros: number;
}

const amount = z.int().min(0);
const limit = { calls: amount.optional(), payoutMicros: amount.optional() };

export const budgetSchema: z.ZodType<Budget> = closedObject({
  session: closedObject(limit).optional(),
  principal: closedObject({ ...limit, windowSeconds: z.int().min(1) }).optional(),
  payouts: z
    .array(closedObject({ tool: z.string(), arg: z.string(), microsPerUnit: z.int().min(1) }))
    .max(1000)
    .optional(),
}) as z.ZodType<Budget>;

/** Checks a budget and freezes a copy of it. @throws IntentlockError `ERR_INVALID_OPTIONS` naming the first problem */
export function parseBudget(value: unknown): Budget {
  return parseChecked(budgetSchema, value, { code: "ERR_INVALID_OPTIONS", what: "The budget is" });
}

/** What one call takes and leaves, or why the budget refuses it. */
export type BudgetAnswer =
  | { readonly payoutMicros: number; readonly remaining: BudgetRemaining; readonly refused?: undefined }
  | { readonly refused: string };

/**
 * Whether a call fits into what is left, of session and principal both. A call that pays out must have a whole,
 * non-negative number of micros and a limit on money to count against.
 */
export function checkBudget(
  budget: Budget,
  ledger: Ledger | undefined,
  call: { tool: string; args: JsonObject },
): BudgetAnswer {
  if (!isLedger(ledger)) return { refused: "what was spent so far is not known" };
  const payoutMicros = payoutOf(budget, call);
  if (payoutMicros === undefined) return { refused: "the amount to pay is missing, negative or not a number" };
  if (payoutMicros > 0 && budget.session?.payoutMicros === undefined && budget.principal?.payoutMicros === undefined) {
    return { refused: "the budget sets no limit on payments" };
  }
  const session = budget.session && take(budget.session, ledger.session, payoutMicros);
  const principal = budget.principal && take(budget.principal, ledger.principal, payoutMicros);
  if (session === null) return { refused: "the budget of this task is used up" };
  if (principal === null) return { refused: "the budget of this person is used up" };
  return { payoutMicros, remaining: { ...(session && { session }), ...(principal && { principal }) } };
}

/** The USD micros that a call pays out: 0 unless the budget names its tool; undefined if the amount cannot be read. */
function payoutOf(budget: Budget, { tool, args }: { tool: string; args: JsonObject }): number | undefined {
  let total = 0;
  for (const payout of budget.payouts ?? []) {
    if (payout.tool !== tool) continue;
    const units = Object.hasOwn(args, payout.arg) ? args[payout.arg] : undefined;
    if (typeof units !== "number" || !(units >= 0)) return undefined;
    // A fraction of a micro is charged in full, but not what binary arithmetic adds: 1.1 * 1e6 is 1100000.0000000002.
    total += units > 0 ? Math.max(1, Math.ceil(units * payout.microsPerUnit - 0.001)) : 0;
  }
  return Number.isSafeInteger(total) ? total : undefined;
}

/** What is left of one limit after the call; null if it does not fit. */
function take(limit: BudgetLimit, spent: Spent, payoutMicros: number): BudgetLimit | null {
  const calls = limit.calls === undefined ? undefined : limit.calls - spent.calls - 1;
  const micros = limit.payoutMicros === undefined ? undefined : limit.payoutMicros - spent.payoutMicros - payoutMicros;
  if ((calls !== undefined && calls < 0) || (micros !== undefined && micros < 0)) return null;
  return { ...(calls !== undefined && { calls }), ...(micros !== undefined && { payoutMicros: micros }) };
}

function isLedger(ledger: Ledger | undefined): ledger is Ledger {
  return [ledger?.session, ledger?.principal].every((spent) => isCount(spent?.calls) && isCount(spent?.payoutMicros));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
