import { z } from "zod";
import type { JsonObject } from "./json.ts";
import { closedObject, parseChecked } from "./schema.ts";
import { toMicros } from "./to-micros.ts";
import type { BudgetRemaining } from "./verdict.ts";

/** Limits on calls and on money, beside the policy. What is not given is not limited. */
export interface Budget {
  /** For one plan. */
  readonly session?: BudgetLimit;
  /** For one person over all their plans with one agent, within any `windowSeconds`. */
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
  /** USD micros per unit of the argument. An amount has to be a whole number of micros. */
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

/** What one call takes and leaves, or why the budget refuses it: then it takes nothing. */
export type BudgetAnswer =
  | {
      readonly refused?: undefined;
      readonly payoutMicros: number;
      readonly remaining: BudgetRemaining;
      /** The ledger once the call has taken what it takes. */
      readonly ledger: Ledger;
    }
  | { readonly refused: string };

/** What a verdict says that a call has taken, beside the call itself. */
export interface Debit {
  readonly payoutMicros?: number;
  /** Whose ledger was debited beside that of the session. */
  readonly principalId?: string;
}

/**
 * Takes a call from what is left of session and principal, from both or from neither. A call that pays out needs an exact
 * number of micros, as {@link toMicros} reads it, and a limit on money to count against. The ledger that it is given does
 * not change.
 */
export function tryToolCall(
  ledger: Ledger | undefined,
  budget: Budget,
  call: { readonly tool: string; readonly args: JsonObject },
): BudgetAnswer {
  if (!isLedger(ledger)) return { refused: "what was spent so far is not known" };
  const payoutMicros = payoutOf(budget, call);
  if (payoutMicros === undefined) {
    return { refused: "the amount to pay is not a number from 0 on that is exact to a millionth of a dollar" };
  }
  if (payoutMicros > 0 && budget.session?.payoutMicros === undefined && budget.principal?.payoutMicros === undefined) {
    return { refused: "the budget sets no limit on payments" };
  }
  const session = addCall(ledger.session, payoutMicros);
  const principal = budget.principal ? addCall(ledger.principal, payoutMicros) : ledger.principal;
  if (!isSpent(session) || !isSpent(principal)) return { refused: "more was spent than can be counted" };
  const left = budget.session && leftOf(budget.session, session);
  const leftOfPerson = budget.principal && leftOf(budget.principal, principal);
  if (left === null) return { refused: "the budget of this task is used up" };
  if (leftOfPerson === null) return { refused: "the budget of this person is used up" };
  const remaining = { ...(left && { session: left }), ...(leftOfPerson && { principal: leftOfPerson }) };
  return { payoutMicros, remaining, ledger: { session, principal } };
}

/**
 * Gives back exactly what a verdict says that its call has taken. That it is done once for a call, and only for one that
 * never started, is for those who keep the ledger.
 *
 * @throws RangeError if less was taken than is given back
 */
export function refundToolCall(ledger: Ledger, { payoutMicros = 0, principalId }: Debit): Ledger {
  const session = takeBack(ledger.session, payoutMicros);
  return {
    session,
    principal: principalId === undefined ? ledger.principal : takeBack(ledger.principal, payoutMicros),
  };
}

/** One call more. */
export function addCall({ calls, payoutMicros }: Spent, payout: number): Spent {
  return { calls: calls + 1, payoutMicros: payoutMicros + payout };
}

/** One call less. @throws RangeError as {@link subtract} does */
export function takeBack(spent: Spent, payout: number): Spent {
  return subtract(spent, { calls: 1, payoutMicros: payout });
}

/** @throws RangeError if less was taken than is given back: nothing is made up for what was never paid */
export function subtract({ calls, payoutMicros }: Spent, back: Spent): Spent {
  const rest = { calls: calls - back.calls, payoutMicros: payoutMicros - back.payoutMicros };
  if (!isSpent(rest)) throw new RangeError("more is given back than was taken");
  return rest;
}

/**
 * A person's ledger as a plan sees it that may take what is reserved for it, and has taken some of it: all else counts as
 * taken.
 */
export function countAllButReserved(limit: BudgetLimit, reserved: Spent, spent: Spent): Spent {
  const count = (what: keyof Spent): number => {
    const most = limit[what];
    return most === undefined ? spent[what] : Math.max(0, most - reserved[what] + spent[what]);
  };
  return { calls: count("calls"), payoutMicros: count("payoutMicros") };
}

/** The USD micros that a call pays out: 0 unless the budget names its tool; undefined if the amount cannot be read. */
export function payoutOf(budget: Budget, { tool, args }: { tool: string; args: JsonObject }): number | undefined {
  let total = 0;
  for (const payout of budget.payouts ?? []) {
    if (payout.tool !== tool) continue;
    const micros = toMicros(Object.hasOwn(args, payout.arg) ? args[payout.arg] : undefined, payout.microsPerUnit);
    if (micros === undefined) return undefined;
    total += micros;
  }
  return Number.isSafeInteger(total) ? total : undefined;
}

/** What is left of one limit; null if more was taken. */
function leftOf(limit: BudgetLimit, spent: Spent): BudgetLimit | null {
  const calls = limit.calls === undefined ? undefined : limit.calls - spent.calls;
  const micros = limit.payoutMicros === undefined ? undefined : limit.payoutMicros - spent.payoutMicros;
  if ((calls !== undefined && calls < 0) || (micros !== undefined && micros < 0)) return null;
  return { ...(calls !== undefined && { calls }), ...(micros !== undefined && { payoutMicros: micros }) };
}

function isLedger(ledger: Ledger | undefined): ledger is Ledger {
  return isSpent(ledger?.session) && isSpent(ledger?.principal);
}

function isSpent(spent: Spent | undefined): boolean {
  return isCount(spent?.calls) && isCount(spent?.payoutMicros);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
