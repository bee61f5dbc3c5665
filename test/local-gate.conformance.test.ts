import { openPlanToken } from "../src/core/index.ts";
import { MemoryAuditSink } from "../src/gates/audit-sink.ts";
import { LocalGate } from "../src/gates/local.ts";
import { SlowAuditSink } from "./audit-sinks.ts";
import { AGENT, KEY } from "./builders.ts";
import { describeGate, type GateSetup, type GateUnderTest } from "./gate-conformance.ts";

function makeWith(audit: MemoryAuditSink): (setup: GateSetup) => Promise<GateUnderTest> {
  return async (setup) => ({
    gate: new LocalGate({ ...setup, audit, agent: AGENT, signingKey: KEY }),
    holds: false,
    open: (token) => openPlanToken(token, [KEY.publicKey], { audience: AGENT }),
    keys: async () => [KEY.publicKey],
    audience: AGENT,
    entries: async (planId) => audit.entries.filter((entry) => entry.planId === planId),
  });
}

describeGate("LocalGate", makeWith(new MemoryAuditSink()));
describeGate("LocalGate with a slow audit sink", makeWith(new SlowAuditSink()));
