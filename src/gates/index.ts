/**
 * Gates sign plans and decide about calls: {@link LocalGate} in this process.
 *
 * @module
 */
export { type AuditSink, MemoryAuditSink } from "./audit-sink.ts";
export type { Gate, GateCall, HoldResolution, Outcome, SignedPlan, SignRequest, Task, UserInput } from "./gate.ts";
export { LocalGate, type LocalGateOptions } from "./local.ts";
export { nodeSha256 } from "./node-sha256.ts";
export type { People } from "./people.ts";
