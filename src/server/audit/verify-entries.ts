import {
  type AuditEntry,
  agreesWithRecord,
  type Decision,
  type DecisionRecord,
  type OpenedToken,
  openPlanToken,
  type PublicKey,
  recomputeDecision,
  type SourceMatch,
  type Spent,
  type TaskText,
} from "../../core/index.ts";
import { TASK } from "../../core/sources/source.ts";
import type { ServerContext } from "../handler.ts";
import type { KnownPlan } from "../plans/plan-changes.ts";
import { readReserved } from "../plans/reserve-budget.ts";
import type { Reserved, VerdictCheck } from "../store/index.ts";
import type { StepsOfCalls } from "./given-calls.ts";
import type { Receiver } from "./receive-batch.ts";
import { isReserved, TakenCalls } from "./taken-calls.ts";
import { isClaimedFor } from "./verify-approval.ts";

/** Something in a client's entries that is not so. They are kept all the same: they prove it. */
export interface Doubt {
  readonly seq: number;
  readonly problem: string;
}

/** What a client's entries come to. */
export interface VerifiedEntries {
  readonly verdictChecks: readonly (VerdictCheck | null)[];
  readonly doubts: readonly Doubt[];
  readonly taken: TakenCalls;
  readonly isClosed: boolean;
}

/**
 * Looks at entries that follow on those of a plan: each decision is made again from its token, each count compared with
 * what was taken before, each approval with the hold that it is of.
 */
export async function verifyEntries(
  { context: { store, keys }, sources, given }: Pick<Receiver, "context" | "sources" | "given">,
  plan: KnownPlan,
  entries: readonly AuditEntry[],
): Promise<VerifiedEntries> {
  const look: Look = {
    store,
    plan,
    entries,
    openToken: openTokensOf(plan, store, await keys.publicKeys()),
    taken: new TakenCalls(plan),
    reserved: reservedFor(plan, store),
    task: await sources.taskOf(plan),
    givenBefore: once(() => given.before(plan)),
  };
  const verdictChecks: (VerdictCheck | null)[] = [];
  const doubts: Doubt[] = [];
  let isClosed = plan.status === "closed";
  for (const entry of entries) {
    const { seq, event } = entry;
    const found = await verifyEntry(entry, look);
    let { problem } = found;
    if (seq === 0 && event.type !== "plan_signed") problem = "the chain does not begin with the plan";
    if (isClosed && event.type === "decision") problem = "it was decided after the plan was closed";
    if (event.type === "closed") isClosed = true;
    verdictChecks.push(found.verdictCheck ?? null);
    if (problem !== undefined) doubts.push({ seq, problem });
  }
  return { verdictChecks, doubts, taken: look.taken, isClosed };
}

/** What entries are looked at with. */
interface Look {
  readonly store: ServerContext["store"];
  readonly plan: KnownPlan;
  readonly entries: readonly AuditEntry[];
  readonly openToken: (jti: string) => Promise<OpenedToken | undefined>;
  readonly taken: TakenCalls;
  readonly reserved: (token: OpenedToken | undefined) => Promise<Reserved | null>;
  /** What the user asked for, if the plan wants a value from there. */
  readonly task: TaskText | undefined;
  /** Which calls gave a result in the entries before these. */
  readonly givenBefore: () => Promise<StepsOfCalls>;
}

interface Found {
  readonly verdictCheck?: VerdictCheck;
  readonly problem?: string;
}

async function verifyEntry({ seq, event }: AuditEntry, look: Look): Promise<Found> {
  const { store, plan, entries, openToken, taken } = look;
  switch (event.type) {
    case "plan_signed":
    case "refresh":
      return (await isIssued(store, plan.id, event.token)) ? {} : { problem: NOT_SIGNED };
    case "decision": {
      const token = await openToken(event.jti);
      const earlier = event.sources?.some(({ from }) => from !== TASK) ? await look.givenBefore() : NONE;
      const found = verifyDecision(event, { ...look, token, earlier, reserved: await look.reserved(token) });
      const before = (): AuditEntry[] => entries.filter((entry) => entry.seq < seq);
      const isSound = !event.evidence?.approval || (await isClaimedFor(store, { plan, event, earlier: before() }));
      taken.add(seq, event, token);
      if (isSound || found.problem !== undefined) return found;
      return { verdictCheck: "differs", problem: "its approval was not given, or not claimed, or is used twice" };
    }
    case "outcome":
      return taken.settle(event) ? {} : { problem: "no allowed call waited for this outcome" };
    case "closed":
    case "hold":
    case "approval":
      return {};
    default:
      throw new TypeError(`unknown event ${event satisfies never}`);
  }
}

/** The tokens of a plan by their `jti`, each read once; undefined for one that was signed for no plan, or another. */
function openTokensOf(plan: KnownPlan, store: ServerContext["store"], keys: readonly PublicKey[]): Look["openToken"] {
  const tokens = new Map<string, OpenedToken | undefined>();
  return async (jti) => {
    if (tokens.has(jti)) return tokens.get(jti);
    const stored = jti === "" ? undefined : await store.plans.token(jti);
    const isOwn = stored?.planId === plan.id;
    const opened = isOwn ? await openPlanToken(stored.token, keys, { audience: plan.agentId }) : undefined;
    tokens.set(jti, opened);
    return opened;
  };
}

/** What is reserved now, read once and only for a token whose budget asks for it. */
function reservedFor(plan: KnownPlan, store: ServerContext["store"]): Look["reserved"] {
  let reserved: Promise<Reserved | null> | undefined;
  return async (token) => {
    if (!token?.valid || !token.claims.budget?.principal) return null;
    reserved ??= readReserved(store, plan.id);
    return await reserved;
  };
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const NONE: StepsOfCalls = new Map();
const NOTHING: Spent = { calls: 0, payoutMicros: 0 };

const NOT_SIGNED = "its token is not one that was signed for this plan";

interface Grounds extends Pick<Look, "plan" | "taken" | "task"> {
  readonly token: OpenedToken | undefined;
  readonly reserved: Reserved | null;
  readonly earlier: StepsOfCalls;
}

function verifyDecision(event: DecisionRecord, { plan, token, taken, task, reserved, earlier }: Grounds): Found {
  const isMalformed = event.args === undefined && event.digest === undefined && event.verdict === "block";
  // A call that was malformed, or refused for an invalid token, is a block whatever it rested on.
  if (isMalformed) return { verdictCheck: "not_recomputable" };
  if (!token) return { verdictCheck: "differs", problem: NOT_SIGNED };
  if (!taken.areIn(event)) return { verdictCheck: "differs", problem: "it counts less than was taken before it" };
  if (!isReserved(event, { token, reserved: reserved ?? NOTHING, taken: taken.spent })) {
    return { verdictCheck: "differs", problem: "it takes more of the person's budget than is reserved" };
  }
  if (!taken.haveGiven(event.sources ?? [], plan, earlier)) {
    return { verdictCheck: "differs", problem: "it has a value from a result that is not there" };
  }
  // The key of an old token may be gone, and arguments may have been redacted.
  if (!token.valid || event.args === undefined) return { verdictCheck: "not_recomputable" };
  if (comesOut(event, recomputeDecision(event, token, { task }))) return { verdictCheck: "recomputed" };
  // Who goes on with a plan elsewhere may not have the task: what they block for that, they block.
  if (event.verdict === "block" && !event.sources && comesOut(event, recomputeDecision(event, token))) {
    return { verdictCheck: "recomputed" };
  }
  return { verdictCheck: "differs", problem: "decided again, it comes out otherwise" };
}

/**
 * Whether a decision is the one on record, and finds what the record names: people read that, too. Which of a list's items
 * came from which result is not on record, so of an argument it is only seen whether the task and whether results are in it.
 */
function comesOut(event: DecisionRecord, again: Decision | undefined): boolean {
  if (!again || !agreesWithRecord(event, again)) return false;
  const found = new Set(again.sources?.map(print));
  return (event.sources ?? []).every((source) => found.has(print(source)));
}

function print({ arg, from }: SourceMatch): string {
  return `${from === TASK ? "task" : "result"} ${arg}`;
}

async function isIssued(store: ServerContext["store"], planId: string, token: string): Promise<boolean> {
  const jti = readJti(token);
  const stored = jti === undefined ? undefined : await store.plans.token(jti);
  return stored?.planId === planId && stored.token === token;
}

/** Only to find the token: it counts if it is the very text that was signed. */
function readJti(token: string): string | undefined {
  try {
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    return typeof claims?.jti === "string" && !claims.jti.includes("\0") ? claims.jti : undefined;
  } catch {
    return undefined;
  }
}
