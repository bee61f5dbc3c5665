import { isJsonObject, type Json } from "../../core/index.ts";

/**
 * What a tool has said in a `CallToolResult`: its `structuredContent`, or else the texts of its `content`, those of embedded
 * resources included, one as it is and several as a list. Nothing of what goes with them (`_meta`, annotations), and nothing
 * of a result with `isError`, in which servers repeat what they were called with.
 */
export function readSaid(result: unknown): unknown {
  if (!isJsonObject(result as Json)) return undefined;
  const { structuredContent, content, isError } = result as Readonly<Record<string, unknown>>;
  if (isError === true) return undefined;
  if (structuredContent !== undefined) return structuredContent;
  const texts = Array.isArray(content) ? content.flatMap(readTexts) : [];
  return texts.length > 1 ? texts : texts[0];
}

function readTexts(block: Json): string[] {
  if (!isJsonObject(block)) return [];
  const text =
    block["type"] === "resource" && isJsonObject(block["resource"]) ? block["resource"]["text"] : block["text"];
  return typeof text === "string" ? [text] : [];
}
