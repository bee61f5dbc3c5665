import type { LanguageModel, LanguageModelMiddleware } from "ai";
import { IntentlockError } from "../../core/index.ts";
import { loadAi } from "./load-ai.ts";

type Middleware = Required<Pick<LanguageModelMiddleware, "transformParams" | "wrapGenerate" | "wrapStream">>;
type Params = Awaited<ReturnType<Middleware["transformParams"]>>;
type Part = { readonly type: string; readonly toolName?: string; readonly providerExecuted?: boolean | undefined };

/**
 * The model, kept from tools that nobody locked: they are not offered to it, and a call that the provider has run all the
 * same ends the step with an error. A model given as an id is returned as it is: it cannot be wrapped.
 *
 * @param known the names of the tools that are locked or allowed without
 */
export async function lockModel(model: LanguageModel, known: readonly string[], allowUngated: readonly string[]): Promise<LanguageModel> {
  if (typeof model === "string") return model;
  const { wrapLanguageModel } = await loadAi();
  const offered = new Set(known);
  const ungated = new Set(allowUngated);
  const middleware: LanguageModelMiddleware = {
    specificationVersion: "v4",
    transformParams: async ({ params }) => hideServers(hideTools(params, offered), ungated),
    wrapGenerate: async ({ doGenerate }) => {
      const result = await doGenerate();
      for (const part of result.content) refuseExecuted(part, ungated);
      return result;
    },
    wrapStream: async ({ doStream }) => {
      const { stream, ...rest } = await doStream();
      const checked = new TransformStream<Part, Part>({
        transform(part, controller) {
          refuseExecuted(part, ungated);
          controller.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(checked as unknown as TransformStream) };
    },
  };
  return wrapLanguageModel({ model, middleware });
}

function hideTools(params: Params, offered: ReadonlySet<string>): Params {
  if (!params.tools) return params;
  return { ...params, tools: params.tools.filter(({ name }) => offered.has(name)) };
}

/** Remote MCP servers, which Anthropic's API calls itself: the one way to tools that goes through the provider's options. */
function hideServers(params: Params, ungated: ReadonlySet<string>): Params {
  const anthropic = params.providerOptions?.["anthropic"];
  if (!anthropic || !("mcpServers" in anthropic) || ungated.has("mcpServers")) return params;
  const { mcpServers: _, ...rest } = anthropic;
  return { ...params, providerOptions: { ...params.providerOptions, anthropic: rest } };
}

function refuseExecuted(part: Part, ungated: ReadonlySet<string>): void {
  if (part.type !== "tool-call" || !part.providerExecuted || ungated.has(part.toolName ?? "")) return;
  throw new IntentlockError(
    "ERR_UNGATED_TOOLS",
    `The model's provider ran ${JSON.stringify(part.toolName)}, which the gate cannot see. Name it in allowUngated, or turn it off at the provider.`,
  );
}
