import type { SigningKeyAnswer, SigningKeysAnswer } from "../../core/api/index.ts";
import { generateSigningKey } from "../../core/index.ts";
import { ProblemError } from "../handler.ts";
import type { StoredSigningKey } from "../store/index.ts";
import { describeEvent, type Operator } from "./operator.ts";

/** How long a new key is in the key set before it signs: servers and clients that keep the set learn it meanwhile. */
export const PUBLISH_AHEAD_MS = 60_000;

/**
 * How long an old key stays in the key set after it has signed for the last time, unless tokens last longer: batches of
 * audit entries come late, and what was decided under its tokens is decided again then.
 */
export const RETIRE_AFTER_MS: number = 7 * 86_400_000;

/** The signing keys, oldest first, without their private halves. */
export async function listSigningKeys({ store, clock }: Pick<Operator, "store" | "clock">): Promise<SigningKeysAnswer> {
  const now = clock();
  return { keys: (await store.signingKeys.list()).map((key) => describeKey(key, now)) };
}

/** Makes a new signing key; the others retire when nothing that they have signed counts any more. */
export async function rotateSigningKey(operator: Operator): Promise<SigningKeyAnswer> {
  const key = await generateSigningKey();
  const now = operator.clock();
  return await operator.store.administer(async (store) => {
    const signsNow = await store.signingKeys.current(now);
    const signsFrom = signsNow ? now + PUBLISH_AHEAD_MS : now;
    const lastsMs = (await store.agents.list()).map(({ settings }) => (settings.planTtlSeconds ?? 0) * 1000);
    const retireOthersAt = signsFrom + lastsMs.reduce((most, one) => Math.max(most, one), RETIRE_AFTER_MS);
    const isAdded = await store.signingKeys.rotate({ key, createdAt: now, signsFrom }, { retireOthersAt });
    if (!isAdded) throw new ProblemError("unavailable", { detail: "Another key was made at the same time" });
    const details = { signsFrom, retireOthersAt };
    await store.adminAudit.append(
      describeEvent(operator, { at: now, action: "signing-key.rotate", target: key.kid, details }),
    );
    return describeKey({ ...key, createdAt: now, signsFrom, retiredAt: null }, now);
  });
}

function describeKey({ kid, createdAt, retiredAt }: StoredSigningKey, now: number): SigningKeyAnswer {
  if (retiredAt === null) return { kid, status: "active", createdAt };
  if (retiredAt <= now) return { kid, status: "retired", createdAt };
  return { kid, status: "retiring", createdAt, retiresAt: retiredAt };
}
