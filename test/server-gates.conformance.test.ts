import { describeGate } from "./gate-conformance.ts";
import { makeHttpGate, makeHybridGate, overSocket } from "./server-gates.ts";

describeGate("HttpGate", makeHttpGate(), { principal: false });
describeGate("HybridGate", makeHybridGate(), { principal: false });
describeGate("HttpGate over a socket", makeHttpGate(overSocket), { principal: false });
describeGate("HybridGate over a socket", makeHybridGate(overSocket), { principal: false });
