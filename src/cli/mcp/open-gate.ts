import { resolve } from "node:path";
import { type Gate, HttpGate, HybridGate, LocalGate, openOutbox } from "../../gates/index.ts";
import type { CliIo } from "../io.ts";
import { requirePolicyFile } from "../policy/policy-file.ts";
import type { GateSettings } from "./proxy-settings.ts";

/** @throws CliError `ERR_INVALID_POLICY`, `ERR_FILE`; IntentlockError `ERR_INVALID_OPTIONS`, `ERR_OUTBOX` */
export async function openGate(settings: GateSettings, { io, waitMs }: { io: CliIo; waitMs: number }): Promise<Gate> {
  const outbox = settings.outbox === undefined ? undefined : resolve(io.cwd, settings.outbox);
  if (settings.kind === "local") {
    const { policy } = await requirePolicyFile(settings.policyFile, io);
    return new LocalGate({ policy, audit: outbox === undefined ? undefined : await openOutbox({ path: outbox }) });
  }
  const { url: baseUrl, apiKey } = settings;
  const common = { baseUrl, apiKey, planTimeoutMs: waitMs };
  return settings.kind === "http" ? new HttpGate(common) : new HybridGate({ ...common, outbox });
}
