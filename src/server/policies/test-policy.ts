import {
  MAX_ROW_ARGS_BYTES,
  type PolicyTestRow,
  type SampleCall,
  type TestPolicyAnswer,
  type TestPolicyBody,
  type VerdictSummary,
} from "../../core/api/index.ts";
import {
  check,
  type Decision,
  type DecisionRecord,
  generateSigningKey,
  type OpenedToken,
  openPlanToken,
  type PlanClaims,
  type Policy,
  type PublicKey,
  recomputeDecision,
  type SigningKey,
  signPlanToken,
  type User,
} from "../../core/index.ts";
import type { ServerContext } from "../handler.ts";
import { snapshotPerson } from "../plans/issue-token.ts";
import type { Agent } from "../store/index.ts";

export interface PolicyTest {
  readonly agent: Agent;
  /** Undefined if the agent has none yet. */
  readonly current: Policy | undefined;
  readonly next: Policy;
  /** Whether it says what was called for whom, and not only how it was decided. */
  readonly withCalls: boolean;
}

/**
 * Says what would come out otherwise under another policy: of the agent's last decisions, newest first, each made again
 * with all that it rested on, and of sample calls. Nothing is changed.
 *
 * @throws ProblemError `unknown_user`
 */
export async function testPolicy(
  context: ServerContext,
  { agent, current, next, withCalls }: PolicyTest,
  { replay = 0, calls = [] }: Pick<TestPolicyBody, "replay" | "calls">,
): Promise<TestPolicyAnswer> {
  const desk = await TestDesk.open(context, agent.id);
  const rows: PolicyTestRow[] = [];
  let notRecomputable = 0;
  const decisions = replay > 0 ? await context.store.auditEntries.lastDecisions(agent.id, replay) : [];
  for (const { entry, token } of decisions) {
    const record = entry.event as DecisionRecord;
    const opened = await desk.underPolicy(token, next);
    const again = opened && recomputeDecision(record, opened);
    if (!opened?.valid || !again) {
      notRecomputable += 1;
      continue;
    }
    const { planId, seq, at } = entry;
    const named = {
      callId: record.callId,
      tool: record.tool,
      planId,
      seq,
      ...(withCalls && { at, ...describeCall(record, opened.claims) }),
    };
    rows.push(toRow(named, summarizeRecord(record), summarize(again)));
  }
  for (const [index, call] of calls.entries()) {
    const user = await desk.findUser(call.user);
    const named = { callId: call.callId ?? `sample-${index + 1}`, tool: call.tool };
    const before = current && summarize(await desk.decideSample(call, user, current));
    rows.push(toRow(named, before ?? null, summarize(await desk.decideSample(call, user, next))));
  }
  return { rows, changed: rows.filter(({ changed }) => changed).length, notRecomputable };
}

/** Tokens for decisions that nobody acts on: signed with a key that exists for one test and is published nowhere. */
class TestDesk {
  readonly #context: ServerContext;
  readonly #agentId: string;
  readonly #key: SigningKey;
  readonly #publicKeys: readonly PublicKey[];
  readonly #tokens = new Map<string, OpenedToken>();
  #admin: User | undefined;

  private constructor(context: ServerContext, agentId: string, key: SigningKey, keys: readonly PublicKey[]) {
    this.#context = context;
    this.#agentId = agentId;
    this.#key = key;
    this.#publicKeys = keys;
  }

  static async open(context: ServerContext, agentId: string): Promise<TestDesk> {
    // Of old decisions the key may be retired.
    const keys = (await context.store.signingKeys.list()).map(({ publicKey }) => publicKey);
    return new TestDesk(context, agentId, await generateSigningKey(), keys);
  }

  /** A token as it would have been signed under another policy; undefined if it is none. */
  async underPolicy(token: string, policy: Policy): Promise<OpenedToken | undefined> {
    const opened = await openPlanToken(token, this.#publicKeys, { audience: this.#agentId });
    return opened.valid ? await this.#sign(opened.claims.jti, { ...opened.claims, policy }) : undefined;
  }

  async decideSample({ callId = "sample", tool, args }: SampleCall, user: User, policy: Policy): Promise<Decision> {
    const token = await this.#sign(`${policy.rules.length} ${JSON.stringify([user.email, tool, policy])}`, {
      ver: 1,
      iss: this.#context.publicUrl,
      aud: this.#agentId,
      sub: user.email,
      iat: 0,
      exp: 1,
      jti: "sample",
      planId: "sample",
      plan: { goal: "Try a policy", steps: [{ tool }] },
      user,
      policy,
    });
    return check({ token, call: { callId, tool, args }, used: [0], now: 0 });
  }

  /** @throws ProblemError `unknown_user` */
  async findUser(email: string | undefined): Promise<User> {
    const { people } = this.#context.store;
    if (email !== undefined) return snapshotPerson(await people.get(email));
    const isAdmin = ({ roles, disabledAt }: Awaited<ReturnType<typeof people.list>>[number]): boolean =>
      roles.includes("admin") && disabledAt === null;
    this.#admin ??= snapshotPerson((await people.list()).find(isAdmin));
    return this.#admin;
  }

  async #sign(name: string, claims: PlanClaims): Promise<OpenedToken> {
    const known = this.#tokens.get(name);
    if (known) return known;
    const token = await signPlanToken(claims, this.#key);
    const opened = await openPlanToken(token, [this.#key.publicKey], { audience: this.#agentId });
    this.#tokens.set(name, opened);
    return opened;
  }
}

/** A thousand calls may have a megabyte of arguments each: what is long is in the story of its plan. */
function describeCall(
  { args }: DecisionRecord,
  { user }: Pick<PlanClaims, "user">,
): Pick<PolicyTestRow, "user" | "args"> {
  const isShort = args !== undefined && Buffer.byteLength(JSON.stringify(args)) <= MAX_ROW_ARGS_BYTES;
  return { user: user.email, ...(isShort && { args }) };
}

function toRow(
  named: Omit<PolicyTestRow, "before" | "after" | "changed">,
  before: VerdictSummary | null,
  after: VerdictSummary,
): PolicyTestRow {
  const changed =
    before === null || before.verdict !== after.verdict || before.reason !== after.reason || before.rule !== after.rule;
  return { ...named, before, after, changed };
}

function summarize(decision: Decision): VerdictSummary {
  const { verdict, rule } = decision;
  const reason = decision.verdict === "block" ? decision.reason : undefined;
  return { verdict, ...(reason !== undefined && { reason }), ...(rule !== undefined && { rule }) };
}

function summarizeRecord({ verdict, reason, rule }: DecisionRecord): VerdictSummary {
  return { verdict, ...(reason !== undefined && { reason }), ...(rule !== undefined && { rule }) };
}
