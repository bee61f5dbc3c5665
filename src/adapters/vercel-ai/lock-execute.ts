import type { ToolExecutionOptions } from "ai";
import { unwrapResult } from "../../session/blocked-error.ts";
import type { Session, SessionCall } from "../../session/index.ts";
import { isMcpFailure } from "../../session/mcp-failure.ts";
import { ASKED_STEP } from "./ask-person.ts";
import type { AnyTool } from "./coverage.ts";

export type Execute = NonNullable<AnyTool["execute"]>;
export type ExecuteOptions = ToolExecutionOptions<unknown>;

/** A tool, and what its calls are checked as. */
export interface ToLock {
  readonly name: string;
  readonly tool: AnyTool;
  readonly session: Session;
  readonly fingerprint: () => Promise<string>;
}

/** The tool's own `execute`, each call of which the session checks first. */
export function lockExecute({ name, tool, session, fingerprint }: ToLock, execute: Execute): Execute {
  // With the tool as `this`: methods of a class may need it.
  const original = (args: unknown, options: ExecuteOptions): unknown => {
    if (options) running.add(options);
    return Reflect.apply(execute, tool, [args, options]);
  };
  async function toCall(args: unknown, options: ExecuteOptions | undefined): Promise<SessionCall> {
    return {
      callId: nameCall(options),
      tool: name,
      args,
      fingerprint: await fingerprint(),
      signal: options?.abortSignal,
      ...(session.onHold === "suspend" && { replayKey: ASKED_STEP }),
    };
  }
  // The SDK tells by what is returned whether a result comes in parts: each kind of function stays what it is.
  if (isAsyncGeneratorFunction(execute)) {
    return async function* (args: unknown, options: ExecuteOptions) {
      const call = await toCall(args, options);
      return unwrapResult(
        yield* session.stream(call, (checked) => original(checked, options) as AsyncIterable<unknown>),
      );
    } as Execute;
  }
  return async (args: unknown, options: ExecuteOptions) => {
    const call = await toCall(args, options);
    const run = async (checked: unknown): Promise<unknown> => await lastOf(await original(checked, options));
    return unwrapResult(await session.run(call, run, { keepsResults: false, resultOf: readSaid }));
  };
}

/** The SDK puts nothing around what a tool gives before it comes to us. */
function readSaid(result: unknown): unknown {
  return isMcpFailure(result) ? undefined : result;
}

/** The options of calls that run: a tool that hands them on to another tool, or to itself, makes a call of its own. */
const running = new WeakSet<object>();

function nameCall(options: ExecuteOptions | undefined): string {
  const id = options?.toolCallId;
  if (!options || id === undefined) return crypto.randomUUID();
  return running.has(options) ? `${id}:${crypto.randomUUID()}` : id;
}

/** A plain function may return an iterable too: the last part is the result. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof result !== "object" || result === null || !(Symbol.asyncIterator in result)) return result;
  let last: unknown;
  for await (const part of result as AsyncIterable<unknown>) last = part;
  return last;
}

function isAsyncGeneratorFunction(value: unknown): boolean {
  return value instanceof Object.getPrototypeOf(async function* () {}).constructor;
}
