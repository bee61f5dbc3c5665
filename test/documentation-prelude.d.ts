/** Names that the code in pages and docstrings uses and does not define: what a reader has already. */
import type { ToolsInput } from "@mastra/core/agent";
import type { LanguageModel, ToolSet } from "ai";
import type { Call, Gate, OpenedToken, Plan, PlanClaims, Session, SessionTool } from "intentlock";

declare global {
  const tools: ToolSet;
  const mastraTools: ToolsInput;
  const sessionTools: readonly SessionTool[];
  const model: LanguageModel;
  const gate: Gate;
  const session: Session;
  const policy: string;
  const task: string;
  const plan: Plan;
  const call: Call;
  const token: OpenedToken;
  const claims: Omit<PlanClaims, "ver">;
  const signedInUser: { readonly email: string };
  const pastedText: string;
  /** An API key of an agent, from where the application keeps its secrets. */
  const apiKey: string;
  const readPage: (args: { readonly [name: string]: unknown }) => Promise<string>;
}
