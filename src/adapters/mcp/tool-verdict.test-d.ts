import { expectTypeOf, test } from "vitest";
import {
  type AllowedToolVerdict,
  type BlockedToolVerdict,
  type DenialCode,
  interceptToolCall,
  isAllowed,
  type JsonRpcErrorResponse,
  type ToolVerdict,
} from "./index.ts";

test("a verdict has these fields and no others", () => {
  expectTypeOf(interceptToolCall).returns.resolves.toEqualTypeOf<ToolVerdict>();
  expectTypeOf<AllowedToolVerdict>().toEqualTypeOf<{
    readonly outcome: "allowed";
    readonly tool: string;
    readonly budgetRemaining: number | null;
    readonly elapsedUs: number;
    readonly payoutMicros: number;
    readonly principalId?: string;
  }>();
  expectTypeOf<BlockedToolVerdict>().toEqualTypeOf<{
    readonly outcome: "blocked";
    readonly tool: string;
    readonly stage: "parse" | "schema" | "policy" | "budget";
    readonly policy?: string;
    readonly denialCode: DenialCode;
    readonly reason: string;
    readonly response: JsonRpcErrorResponse;
    readonly elapsedUs: number;
  }>();
});

test("isAllowed tells the two apart", () => {
  const verdict = {} as ToolVerdict;
  if (isAllowed(verdict)) expectTypeOf(verdict).toEqualTypeOf<AllowedToolVerdict>();
  else expectTypeOf(verdict).toEqualTypeOf<BlockedToolVerdict>();
  // @ts-expect-error A blocked call has a response, an allowed one has not: ask first.
  verdict.response;
});
