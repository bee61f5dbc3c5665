import { missingPeer } from "../../session/setup-errors.ts";

type CreateMiddleware = typeof import("langchain").createMiddleware;

export const createMiddleware: CreateMiddleware = await loadCreateMiddleware();

/** @throws IntentlockError `ERR_MISSING_PEER` with the command that installs it */
async function loadCreateMiddleware(): Promise<CreateMiddleware> {
  try {
    return (await import("langchain")).createMiddleware;
  } catch (cause) {
    throw missingPeer("langchain/middleware", "langchain", "^1", cause);
  }
}
