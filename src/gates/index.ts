/**
 * Gates sign plans and decide about calls: {@link LocalGate} in this process, {@link HttpGate} on a server,
 * {@link HybridGate} here under plans that a server has signed.
 *
 * @module
 */
export { type AuditSink, MemoryAuditSink } from "./audit-sink.ts";
export type {
  Gate,
  GateCall,
  GateListener,
  GateTrouble,
  HoldResolution,
  OpenedHold,
  Outcome,
  SignedPlan,
  SignRequest,
  Task,
  UserInput,
} from "./gate.ts";
export { HttpGate, type HttpGateOptions } from "./http.ts";
export { HybridGate, type HybridGateOptions } from "./hybrid.ts";
export { LocalGate, type LocalGateOptions } from "./local.ts";
export { nodeSha256 } from "./node-sha256.ts";
export { Outbox, type OutboxOptions, type OutboxPlan, openOutbox, type StoredPlan } from "./outbox/index.ts";
export type { People } from "./people.ts";
export type { Fetch, ServerClientOptions } from "./remote/server-client.ts";
export { ServerError, type ServerFailure } from "./remote/server-error.ts";
