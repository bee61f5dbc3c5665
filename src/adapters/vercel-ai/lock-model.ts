import type { LanguageModel, LanguageModelMiddleware, ToolSet } from "ai";
import { isJsonObject } from "../../core/index.ts";
import { providerRan } from "../../session/setup-errors.ts";
import { loadAi } from "./load-ai.ts";

type Middleware = Required<Pick<LanguageModelMiddleware, "transformParams" | "wrapGenerate" | "wrapStream">>;
type Params = Awaited<ReturnType<Middleware["transformParams"]>>;
type OfferedTool = NonNullable<Params["tools"]>[number];
type Part = { readonly type: string; readonly toolName?: string; readonly providerExecuted?: boolean | undefined };

/**
 * The model, kept from tools that nobody locked: they are not offered to it, and a call that the provider has run all the
 * same ends the step with an error. A model given as an id is returned as it is: it cannot be wrapped.
 *
 * @param tools the tools that are locked or allowed without
 */
export async function lockModel(
  model: LanguageModel,
  tools: ToolSet,
  allowUngated: readonly string[],
): Promise<LanguageModel> {
  if (typeof model === "string") return model;
  const { wrapLanguageModel } = await loadAi();
  const known = new Map(Object.entries(tools).map(([name, tool]) => [name, providerId(tool)]));
  const ungated = new Set(allowUngated);
  const middleware: LanguageModelMiddleware = {
    specificationVersion: "v4",
    transformParams: async ({ params }) => hideServers(hideTools(params, known), ungated),
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

/** A tool that the provider knows is offered only as the one that it was: another could run over there. */
function hideTools(params: Params, known: ReadonlyMap<string, string | undefined>): Params {
  if (!params.tools) return params;
  const isKnown = (tool: OfferedTool): boolean => known.has(tool.name) && known.get(tool.name) === providerId(tool);
  return { ...params, tools: params.tools.filter(isKnown) };
}

/** Remote MCP servers, which Anthropic's API calls itself: the one way to tools that goes through the provider's options. */
function hideServers(params: Params, ungated: ReadonlySet<string>): Params {
  if (!params.providerOptions || ungated.has("mcpServers")) return params;
  const providerOptions = { ...params.providerOptions };
  // Under whatever name: a provider may be called anything.
  for (const [provider, options] of Object.entries(providerOptions)) {
    if (!isJsonObject(options) || !("mcpServers" in options)) continue;
    const { mcpServers: _, ...rest } = options;
    providerOptions[provider] = rest;
  }
  return { ...params, providerOptions };
}

/** A result in what a model says is one of a tool that ran over there, like a call that says so. */
function refuseExecuted(part: Part, ungated: ReadonlySet<string>): void {
  const isExecuted = part.type === "tool-result" || (part.type === "tool-call" && part.providerExecuted);
  if (!isExecuted || ungated.has(part.toolName ?? "")) return;
  throw providerRan(part.toolName);
}

function providerId(tool: { readonly type?: string | undefined; readonly id?: string }): string | undefined {
  return tool.type === "provider" ? tool.id : undefined;
}
