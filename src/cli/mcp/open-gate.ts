import { resolve } from "node:path";
import { type Gate, HttpGate, HybridGate, LocalGate, openOutbox } from "../../gates/index.ts";
import type { CliIo } from "../io.ts";
import { requirePolicyFile } from "../policy/policy-file.ts";
import type { GateSettings } from "./proxy-settings.ts";
import { readSigningKeyFile } from "./signing-key-file.ts";

/** @throws CliError `ERR_INVALID_POLICY`, `ERR_FILE`; IntentlockError `ERR_INVALID_OPTIONS`, `ERR_OUTBOX` */
export async function openGate(settings: GateSettings, { io, waitMs }: { io: CliIo; waitMs: number }): Promise<Gate> {
  const outbox = settings.outbox === undefined ? undefined : resolve(io.cwd, settings.outbox);
  if (settings.kind === "local") {
    const { policyFile, keyFile } = settings;
    const { policy } = await requirePolicyFile(policyFile, io);
    const signingKey = keyFile === undefined ? undefined : await readSigningKeyFile(keyFile, io);
    const audit = outbox === undefined ? undefined : await openOutbox({ path: outbox });
    return new LocalGate({ policy, signingKey, audit });
  }
  const { url: baseUrl, apiKey } = settings;
  const common = { baseUrl, apiKey, planTimeoutMs: waitMs };
  return settings.kind === "http" ? new HttpGate(common) : new HybridGate({ ...common, outbox });
}
