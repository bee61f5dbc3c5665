import { describeGate } from "./gate-conformance.ts";
import { makeHttpGate, makeHybridGate, overSocket } from "./server-gates.ts";

describeGate("HttpGate", makeHttpGate());
describeGate("HybridGate", makeHybridGate(), { principal: "portions" });
describeGate("HttpGate over a socket", makeHttpGate(overSocket));
describeGate("HybridGate over a socket", makeHybridGate(overSocket), { principal: "portions" });
