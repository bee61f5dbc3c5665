import type { ToolApprovalStatus } from "ai";
import type { Session, SessionCall } from "../../session/index.ts";
import type { AnyTool } from "./coverage.ts";

type NeedsApproval = AnyTool["needsApproval"];
type NeedsApprovalFunction = Extract<NeedsApproval, (...parts: never) => unknown>;

/** What `toolApproval` has allowed goes on in `execute`, under one decision: the SDK asks first, and runs then. */
export const ASKED_STEP = "ai.toolApproval";

const NOT_YET = Symbol("The SDK has not run the tool yet");

/**
 * Whether a person has to approve a call that the SDK is about to run. If so they are asked, and the SDK is told to end the
 * step in its own way. What the SDK, or a client, says of their answer later is no evidence: the call is checked again.
 *
 * @returns undefined unless somebody has to be asked; a denial if they said no
 */
export async function askPerson(session: Session, call: SessionCall): Promise<ToolApprovalStatus> {
  if (session.onHold !== "suspend") return undefined;
  const { verdict } = await session.peek(call);
  if (verdict !== "hold") return undefined;
  // Approved by now, it is allowed and counted here, and its tool runs when the SDK gets there.
  const result = await session.run(
    { ...call, replayKey: ASKED_STEP },
    () => {
      throw NOT_YET;
    },
    { isSuspension: (thrown) => thrown === NOT_YET },
  );
  if (!result.isError || result.error === NOT_YET) return undefined;
  return { type: result.hold ? "user-approval" : "denied", reason: result.content };
}

/** The tools' own settings, by what `lockTools` put in their place. */
const ownNeeds = new WeakMap<object, { readonly needs: NeedsApproval }>();

/** The `needsApproval` of a locked tool, for runs without a `toolApproval` of ours: the tool's own, and the gate's. */
export function needApproval(
  { needsApproval: needs }: AnyTool,
  session: Session,
  toCall: (callId: string, args: unknown) => Promise<SessionCall>,
): NeedsApproval {
  if (session.onHold !== "suspend") return needs;
  const asked: NeedsApprovalFunction = async (input: unknown, options: { readonly toolCallId: string }) => {
    const own = typeof needs === "function" ? await Reflect.apply(needs, undefined, [input, options]) : needs;
    if (own) return true;
    const status = await askPerson(session, await toCall(options.toolCallId, input));
    // A denial is one in `execute`, too.
    return typeof status === "object" && status.type === "user-approval";
  };
  ownNeeds.set(asked, { needs });
  return asked;
}

/** What a tool says itself of approvals, locked or not. */
export function readOwnNeeds(tool: AnyTool | undefined): NeedsApproval {
  const needs = tool?.needsApproval;
  return typeof needs === "function" && ownNeeds.has(needs) ? ownNeeds.get(needs)?.needs : needs;
}
