import { IntentlockError } from "../../core/index.ts";

/** The SDK, loaded when it is first needed. @throws IntentlockError `ERR_MISSING_PEER` with the command that installs it */
export async function loadAi(): Promise<typeof import("ai")> {
  try {
    return await import("ai");
  } catch (cause) {
    throw new IntentlockError("ERR_MISSING_PEER", 'intentlock/vercel-ai needs the package "ai": npm install ai@^7', {
      cause,
    });
  }
}
