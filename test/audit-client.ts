import { onTestFinished } from "vitest";
import {
  type Approval,
  type AuditEntry,
  type AuditEvent,
  type ChainHead,
  chainEntry,
  check,
  type DecisionRecord,
  describeBatch,
  digestCall,
  type Evidence,
  generateSigningKey,
  type Ledger,
  type OpenedToken,
  openPlanToken,
  type SigningKey,
  signBatch,
  startChain,
} from "../src/core/index.ts";
import type { StoredPlan, VerdictCheck } from "../src/server/store/index.ts";
import {
  type Answer,
  aServer,
  type ServerSetup,
  type ServerUnderTest,
  signedPlan,
  type TestPlan,
  toolFingerprint,
} from "./servers.ts";

/** A client that decides itself, and whose entries can say anything. */
export class AuditClient {
  readonly server: ServerUnderTest;
  readonly plan: TestPlan;
  readonly key: SigningKey;
  readonly token: OpenedToken;
  entries: AuditEntry[] = [];
  head: ChainHead;

  private constructor(server: ServerUnderTest, plan: TestPlan, key: SigningKey, token: OpenedToken) {
    this.server = server;
    this.plan = plan;
    this.key = key;
    this.token = token;
    this.head = startChain(plan.planId);
  }

  static async start(setup: ServerSetup = {}, over: Record<string, unknown> = {}): Promise<AuditClient> {
    const one = await aServer(setup);
    onTestFinished(() => one.close());
    return await AuditClient.on(one, over);
  }

  static async on(one: ServerUnderTest, over: Record<string, unknown> = {}): Promise<AuditClient> {
    const key = await generateSigningKey();
    const plan = await signedPlan(one, { clientKey: key.publicKey, ...over });
    const keys = await one.server.context.keys.publicKeys();
    const token = await openPlanToken(plan.token, keys, { audience: one.agent.agentId });
    const client = new AuditClient(one, plan, key, token);
    client.write({ type: "plan_signed", token: plan.token });
    return client;
  }

  write(event: AuditEvent): AuditEntry {
    const { entry, head } = chainEntry(this.head, event, { at: this.server.clock.now() });
    this.entries.push(entry);
    this.head = head;
    return entry;
  }

  /** Decides about a call, and writes what `change` makes of the record: without what is undefined there. */
  decide(
    call: { tool?: string; args?: unknown; used?: readonly number[]; approval?: Approval; ledger?: Ledger } & Pick<
      Evidence,
      "task" | "results"
    > = {},
    change: { readonly [Field in keyof DecisionRecord]?: DecisionRecord[Field] | undefined } = {},
  ): AuditEntry {
    const { tool = "send_money", args = { amount: 20 }, used = [0, 0], approval, ledger, task, results } = call;
    const now = this.server.clock.now() / 1000;
    const fingerprint = toolFingerprint(tool);
    const grounds = { ...(approval && { approval }), ...(ledger && { ledger }) };
    const evidence = (approval || ledger) && { evidence: grounds };
    const named = { callId: "call-1", tool, args, fingerprint };
    const sources = { ...(task && { task }), ...(results && { results }) };
    const decision = check({ token: this.token, call: named, used, now, evidence: { ...grounds, ...sources } });
    const record: DecisionRecord = {
      args: args as DecisionRecord["args"],
      callId: "call-1",
      digest: digestCall({ tool, args }),
      ...evidence,
      fingerprint,
      jti: this.token.valid ? this.token.claims.jti : "",
      now,
      ...(decision.verdict === "block" && { reason: decision.reason }),
      ...(decision.rule !== undefined && { rule: decision.rule }),
      ...(decision.sources && { sources: decision.sources }),
      ...(decision.step !== undefined && { step: decision.step }),
      tool,
      type: "decision",
      ...(decision.unpinned && { unpinned: decision.unpinned }),
      used,
      verdict: decision.verdict,
    };
    const changed = Object.entries({ ...record, ...change }).filter(([, value]) => value !== undefined);
    return this.write(Object.fromEntries(changed) as unknown as DecisionRecord);
  }

  async upload(entries: readonly AuditEntry[] = this.entries, over: Record<string, unknown> = {}): Promise<Answer> {
    const signature = await signBatch(describeBatch(entries), this.key);
    const body = { planId: this.plan.planId, entries, signature, ...over };
    return await this.server.ask("POST", "/v1/audit", { body });
  }

  async checks(): Promise<readonly (VerdictCheck | null)[]> {
    const stored = await this.server.store.auditEntries.ofPlan(this.plan.planId);
    return stored.map(({ verdictCheck }) => verdictCheck);
  }

  async stored(): Promise<StoredPlan> {
    const plan = await this.server.store.plans.get(this.plan.planId);
    if (!plan) throw new Error("there is no such plan");
    return plan;
  }
}
