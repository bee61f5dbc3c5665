import { describeApi, type signingKeyEndpoints, type systemEndpoints } from "../core/api/index.ts";
import type { JsonObject } from "../core/index.ts";
import { type HandlersOf, ProblemError } from "./handler.ts";
import { readPackageVersion } from "./package-version.ts";

type SystemHandlers = HandlersOf<typeof systemEndpoints & Pick<typeof signingKeyEndpoints, "getKeySet">>;

/** What the server says of itself. */
export function createSystemHandlers(): SystemHandlers {
  let api: JsonObject | undefined;
  return {
    async getApi() {
      api ??= describeApi({ version: readPackageVersion() }) as JsonObject;
      return { status: 200, body: api };
    },
    async getHealth() {
      return { status: 200, body: { status: "ok" } };
    },
    async getReadiness(_request, { store }) {
      try {
        await store.health();
      } catch (cause) {
        throw new ProblemError("unavailable", { cause });
      }
      return { status: 200, body: { status: "ok" } };
    },
    async getKeySet(_request, { keys }) {
      return { status: 200, body: { keys: await keys.publicKeys() } };
    },
  };
}
