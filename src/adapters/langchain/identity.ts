import { IntentlockError } from "../../core/index.ts";
import type { UserInput } from "../../gates/gate.ts";
import type { RunIdentity } from "../../session/run-identity.ts";

export type { RunIdentity } from "../../session/run-identity.ts";

/** What LangChain knows of a run that an application may have put an identity into. */
export interface RunRuntime {
  readonly context?: unknown;
  readonly configurable?: Readonly<Record<string, unknown>> | undefined;
}

/** Gives the identity of a run. Asked at each of its steps, also after it was resumed. */
export type Identify = (runtime: RunRuntime) => RunIdentity | Promise<RunIdentity>;

/** The identity that `invoke` got as `context.intentlock`. */
export function readContext({ context }: RunRuntime): RunIdentity {
  const isObject = typeof context === "object" && context !== null && Object.hasOwn(context, "intentlock");
  return (isObject ? Reflect.get(context, "intentlock") : undefined) as RunIdentity;
}

/** @throws IntentlockError `ERR_INVALID_OPTIONS` for a run without an identity, before anything runs */
export async function readIdentity(identify: Identify, { context, configurable }: RunRuntime): Promise<RunIdentity> {
  const identity: Partial<RunIdentity> | undefined = await identify({ context, configurable });
  const { user, task, plan } = identity ?? {};
  const email: unknown = typeof user === "object" ? user?.email : user;
  if (user === undefined || task === undefined || typeof email !== "string") {
    throw new IntentlockError(
      "ERR_INVALID_OPTIONS",
      "The run says not for whom it is: pass agent.invoke(input, { context: { intentlock: { user, task } } }), or give intentlockMiddleware an identify",
    );
  }
  return { user, task, plan };
}

/** What tells users apart, as far as a run goes on for the one that it began with. */
export function nameUser(user: UserInput): string {
  return (typeof user === "string" ? user : user.email).trim().toLowerCase();
}
