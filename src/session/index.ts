export { BlockedError } from "./blocked-error.ts";
export type { OnHold, PendingHold, SessionCall } from "./call-decider.ts";
export type { SessionEvent, SessionListener } from "./events.ts";
export type { Planner, PlanRequest } from "./planner.ts";
export { type ResumeOptions, resumeSession } from "./resume-session.ts";
export type { ErrorResult, RunOptions, RunResult, Session, ToolImplementation } from "./session.ts";
export type { OpenArguments, SessionTool } from "./session-tool.ts";
export { type SessionOptions, startSession } from "./start-session.ts";
export type { TaskInput } from "./task.ts";
