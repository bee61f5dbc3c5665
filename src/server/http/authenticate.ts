import type { AnyEndpoint } from "../../core/api/index.ts";
import { type Caller, ProblemError, type ServerContext } from "../handler.ts";
import { identifyPerson } from "../people/session.ts";
import { hashSecret, isSameSecret } from "../secret.ts";
import type { FoundKey, RememberedKeys } from "./remembered-keys.ts";

/** How often something may happen in a window of time. */
export interface RateLimit {
  readonly count: number;
  readonly windowSeconds: number;
}

export interface Authentication {
  readonly context: ServerContext;
  /** Refused API keys from one address. */
  readonly keyFailures: RateLimit;
  /** Where a request comes from, as far as it can be trusted. */
  readonly clientAddress: string;
  /** The keys that were good a moment ago, for endpoints that look at the key again when they write. */
  readonly remembered?: RememberedKeys | undefined;
}

/**
 * Finds out who asks. A request that brings an API key where one is taken is the agent's, also if it has a cookie.
 *
 * @throws ProblemError `api_key_rejected`, `rate_limited`, `sign_in_required`, `forbidden`
 */
export async function authenticate(
  { auth, media }: Pick<AnyEndpoint, "auth" | "media">,
  request: Request,
  options: Authentication,
): Promise<Caller> {
  const authorization = request.headers.get("authorization");
  const takesPeople = auth.includes("person") || auth.includes("admin");
  if (auth.includes("agent") && (authorization !== null || !takesPeople)) {
    return await authenticateAgent(authorization, options);
  }
  if (!takesPeople) return { kind: "none" };
  // A page listens by itself, and comes again whenever the stream breaks.
  const found = await identifyPerson(request, options.context, media !== "text/event-stream");
  if (!found) throw new ProblemError("sign_in_required");
  if (!auth.includes("person") && !found.person.roles.includes("admin")) throw new ProblemError("forbidden");
  return { kind: "person", ...found };
}

async function authenticateAgent(authorization: string | null, options: Authentication): Promise<Caller> {
  const { store, clock } = options.context;
  const found = await findKey(authorization, options);
  if (found) return { kind: "agent", ...found };
  const { count, windowSeconds } = options.keyFailures;
  // Counted after the look-up: who shares an address with an attacker and has a good key is let in.
  const failures = await store.rateLimits.hit(`api key ${options.clientAddress}`, windowSeconds, clock());
  if (failures > count) {
    throw new ProblemError("rate_limited", { retryAfterSeconds: windowSeconds - ((clock() / 1000) % windowSeconds) });
  }
  throw new ProblemError("api_key_rejected");
}

/** The agent of an API key that is in use. */
async function findKey(
  authorization: string | null,
  { context: { store, clock }, remembered }: Authentication,
): Promise<FoundKey | undefined> {
  const [, key] = API_KEY.exec(authorization ?? "") ?? [];
  if (key === undefined) return undefined;
  const digest = hashSecret(key);
  const known = remembered?.get(digest);
  if (known) return known;
  const found = await store.apiKeys.findByHash(digest);
  if (!found || !isSameSecret(digest, found.key.hash)) return undefined;
  const { agent, key: apiKey } = found;
  if (apiKey.revokedAt !== null || agent.disabledAt !== null) return undefined;
  if (apiKey.lastUsedAt === null || apiKey.lastUsedAt <= clock() - TOUCH_EVERY_MS) {
    await store.apiKeys.touch(apiKey.id, clock());
  }
  remembered?.add(digest, { agent, apiKey });
  return { agent, apiKey };
}

/** `ilk_` and 32 random bytes in base64url. The scheme's name is of any case (RFC 9110, section 11.1). */
const API_KEY = /^bearer +(ilk_[\w-]{43})$/i;
const TOUCH_EVERY_MS = 60_000;
