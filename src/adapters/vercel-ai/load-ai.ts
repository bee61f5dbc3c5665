import { missingPeer } from "../../session/setup-errors.ts";

/** The SDK, loaded when it is first needed. @throws IntentlockError `ERR_MISSING_PEER` with the command that installs it */
export async function loadAi(): Promise<typeof import("ai")> {
  try {
    return await import("ai");
  } catch (cause) {
    throw missingPeer("vercel-ai", "ai", "^7", cause);
  }
}
