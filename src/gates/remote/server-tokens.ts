import type { SignedPlanAnswer } from "../../core/api/index.ts";
import {
  IntentlockError,
  type Json,
  type OpenedToken,
  openPlanToken,
  type PublicKey,
  type ValidToken,
} from "../../core/index.ts";
import { jsonEqual } from "../../core/json.ts";
import { readTokenPayload } from "../../core/token-payload.ts";
import type { SignRequest } from "../gate.ts";
import type { IssuedToken, PlanFacts } from "../token-issuer.ts";
import type { KeySet } from "./key-set.ts";

/** A token that a server has issued, opened and valid. */
export interface ServerToken extends IssuedToken {
  readonly opened: ValidToken;
}

/** The plan tokens of one server for one agent. */
export class ServerTokens {
  readonly #keys: KeySet;
  #agent: string | undefined;

  constructor(keys: KeySet) {
    this.#keys = keys;
  }

  /** The agent's id. Known since the first token: the server signs for the agent of the API key, and for no other. */
  get agent(): string {
    return this.#agent ?? "";
  }

  /** Learns whose tokens these are, from the server itself, unless that is known. */
  learnAgent(agent: string): void {
    this.#agent ??= agent;
  }

  async open(token: string): Promise<OpenedToken> {
    return await this.#openFor(token, this.agent);
  }

  /** Opens what the server has signed. @throws IntentlockError `ERR_INVALID_CLAIMS` unless it is what it says it is */
  async receive({ planId, plan, token, expiresAt }: SignedPlanAnswer): Promise<ServerToken> {
    const opened = await this.#openFor(token, this.#agent ?? readAudience(token));
    if (!opened.valid) throw notValid(opened.detail);
    const { claims } = opened;
    if (claims.planId !== planId || claims.exp !== expiresAt) {
      throw invalid("The server's token is not the one that its answer says it is");
    }
    // Only now: what is not verified teaches nothing. Another agent's may have been learned while this one was opened.
    this.learnAgent(claims.aud);
    if (claims.aud !== this.agent) throw notValid("it was signed for another agent");
    return { signed: Object.freeze({ planId, plan, token, expiresAt }), opened };
  }

  async #openFor(token: string, audience: string): Promise<OpenedToken> {
    return await this.#keys.open((keys) => openPlanToken(token, keys, { audience }));
  }
}

/** @throws IntentlockError `ERR_INVALID_CLAIMS` for a token of another plan, other tools or another client */
export function assertSigned({ opened }: ServerToken, request: SignRequest, clientKey: PublicKey): void {
  const { cnf, plan, tools } = opened.claims;
  const isAsked =
    cnf?.jwk.x === clientKey.x &&
    jsonEqual({ ...tools }, { ...request.tools }) &&
    jsonEqual(plan as unknown as Json, JSON.parse(JSON.stringify(request.plan)) as Json);
  if (!isAsked) throw invalid("The server has signed something else than was asked");
}

/** What a gate has to know of the plan of a token. */
export function toFacts({ opened }: ServerToken): PlanFacts {
  const { planId, plan, user, tools = {}, task = "" } = opened.claims;
  return { planId, plan, user, tools, task };
}

/** Whom a token says it is for. It is verified right after. */
function readAudience(token: string): string {
  const audience = readTokenPayload(token)?.["aud"];
  if (typeof audience === "string") return audience;
  throw invalid("The server's token cannot be read");
}

function notValid(detail: string): IntentlockError {
  return invalid(`The server's token is not valid: ${detail}`);
}

function invalid(message: string): IntentlockError {
  return new IntentlockError("ERR_INVALID_CLAIMS", message);
}
