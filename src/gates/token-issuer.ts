import { randomUUID } from "node:crypto";
import {
  type Budget,
  generateSigningKey,
  IntentlockError,
  type OpenedToken,
  openPlanToken,
  type Plan,
  type Policy,
  type PublicKey,
  type SigningKey,
  signPlanToken,
  type User,
} from "../core/index.ts";
import { parseSigningKey } from "../core/signing-key.ts";
import type { SignedPlan } from "./gate.ts";
import { type People, resolveUser } from "./people.ts";

/** What every token of a plan says. */
export interface PlanFacts {
  readonly planId: string;
  readonly plan: Plan;
  /** As the application named them; who they are is looked up for each token. */
  readonly user: User;
  readonly tools: Readonly<Record<string, string>>;
  readonly task: string;
}

/** A token for whoever makes the calls, and the same one opened for whoever decides. */
export interface IssuedToken {
  readonly signed: SignedPlan;
  readonly opened: OpenedToken;
}

export interface IssuerOptions {
  readonly agent: string;
  readonly policy: Policy;
  readonly budget: Budget | undefined;
  readonly people: People | undefined;
  /** One is made for this process if none is given. */
  readonly signingKey: SigningKey | undefined;
  readonly ttlSeconds: number;
}

/** Signs the tokens of a gate without a server, and opens them. */
export class TokenIssuer {
  readonly #options: IssuerOptions;
  #key: SigningKey | Promise<SigningKey> | undefined;

  constructor(options: IssuerOptions) {
    this.#options = options;
    this.#key = options.signingKey;
  }

  /** @throws IntentlockError `ERR_UNKNOWN_USER`, `ERR_INVALID_CLAIMS`, `ERR_INVALID_KEY` */
  async issue(facts: PlanFacts, now: number): Promise<IssuedToken> {
    const { agent, policy, budget, people, ttlSeconds } = this.#options;
    const user = await resolveUser(facts.user, people);
    const { planId, plan, tools, task } = facts;
    const expiresAt = now + ttlSeconds;
    const token = await signPlanToken(
      {
        iss: agent,
        aud: agent,
        sub: user.email,
        jti: randomUUID(),
        iat: now,
        exp: expiresAt,
        planId,
        plan,
        user,
        policy,
        tools,
        task,
        ...(budget && { budget }),
      },
      await this.#signingKey(),
    );
    const opened = await this.open(token);
    if (!opened.valid) throw new IntentlockError("ERR_INVALID_KEY", `The new token is not valid: ${opened.detail}`);
    return { signed: Object.freeze({ planId, plan, token, expiresAt }), opened };
  }

  async open(token: string): Promise<OpenedToken> {
    return await openPlanToken(token, [await this.publicKey()], { audience: this.agent });
  }

  /** @throws IntentlockError `ERR_INVALID_KEY` */
  async publicKey(): Promise<PublicKey> {
    return parseSigningKey(await this.#signingKey()).publicKey;
  }

  get agent(): string {
    return this.#options.agent;
  }

  #signingKey(): SigningKey | Promise<SigningKey> {
    this.#key ??= generateSigningKey();
    return this.#key;
  }
}
