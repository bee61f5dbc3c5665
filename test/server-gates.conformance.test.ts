import { describeGate } from "./gate-conformance.ts";
import { makeHttpGate, makeHybridGate } from "./server-gates.ts";

describeGate("HttpGate", makeHttpGate(), { principal: false });
describeGate("HybridGate", makeHybridGate(), { principal: false });
