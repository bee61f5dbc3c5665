import { IntentlockError, type Json, type JsonObject, parseJson } from "../../core/index.ts";
import { isJsonObject } from "../../core/json.ts";
import type { DenialCode, JsonRpcId } from "./tool-verdict.ts";

/** A `tools/call` request, read once. */
export interface ToolCallRequest {
  readonly id: JsonRpcId;
  readonly tool: string;
  readonly args: JsonObject;
  readonly problem?: undefined;
}

/** Why a payload is none, and what of it could be read all the same. */
export interface BadRequest {
  readonly id: JsonRpcId | null;
  readonly tool: string | undefined;
  readonly args: Json | undefined;
  readonly problem: { readonly code: DenialCode; readonly detail: string };
}

/** The longest payload, in bytes. Arguments have at most 1 MiB, and each character may be written as an escape of six. */
const MAX_PAYLOAD_BYTES = 8_388_608;

/**
 * Reads a payload as one `tools/call` request of JSON-RPC 2.0, strictly: what two readers might read differently is refused.
 * Never throws.
 */
export function parseRequest(payload: string | Uint8Array): ToolCallRequest | BadRequest {
  let text: string;
  try {
    text = readText(payload);
  } catch (error) {
    const detail = error instanceof BadText ? error.message : "the payload cannot be read";
    return bad("invalid_encoding", detail);
  }
  try {
    return readRequest(parseJson(text));
  } catch (error) {
    const why = error instanceof IntentlockError ? error.message : "it cannot be read";
    return bad("invalid_json", `the request is not one document of strict JSON: ${why}`);
  }
}

/** {@link parseRequest} of a value that is strict JSON. */
export function readRequest(value: Json): ToolCallRequest | BadRequest {
  if (Array.isArray(value)) return bad("invalid_request", "batches are not taken: send one request at a time");
  if (!isJsonObject(value)) return bad("invalid_request", "the request is not an object");
  const id = own(value, "id");
  const params = own(value, "params");
  const name = isJsonObject(params) ? own(params, "name") : undefined;
  const args = isJsonObject(params) ? own(params, "arguments") : undefined;
  const tool = typeof name === "string" ? name : undefined;
  const detail = findFault(value);
  if (detail === undefined) return { id: id as JsonRpcId, tool: name as string, args: (args ?? {}) as JsonObject };
  return { id: isId(id) ? id : null, tool, args, problem: { code: "invalid_request", detail } };
}

function findFault(request: JsonObject): string | undefined {
  const params = own(request, "params");
  if (own(request, "jsonrpc") !== "2.0") return 'jsonrpc is not "2.0"';
  if (!Object.hasOwn(request, "id")) return "there is no id: a call is no notification";
  if (!isId(own(request, "id"))) return "the id is neither a text nor a whole number";
  if (own(request, "method") !== "tools/call") return "the method is not tools/call";
  // Some readers take `Params` for `params`, or what they do not know for a response.
  const extra = findOther(request, ["jsonrpc", "id", "method", "params"]);
  if (extra !== undefined) return `the request has ${quote(extra)}, which is no member of one`;
  if (!isJsonObject(params)) return "params is not an object";
  if (typeof own(params, "name") !== "string") return "params.name is not a text";
  if (Object.hasOwn(params, "arguments") && !isJsonObject(own(params, "arguments")))
    return "params.arguments is not an object";
  const other = findOther(params, ["name", "arguments", "_meta"]);
  return other === undefined ? undefined : `params has ${quote(other)}, which nobody would check`;
}

class BadText extends Error {}

function readText(payload: string | Uint8Array): string {
  if (payload.length > MAX_PAYLOAD_BYTES) throw new BadText(`the payload has more than ${MAX_PAYLOAD_BYTES} bytes`);
  const text = typeof payload === "string" ? payload : decode(payload);
  if (!text.isWellFormed()) throw new BadText("the payload has a lone surrogate");
  if (text.startsWith("\ufeff")) throw new BadText("the payload begins with a byte order mark");
  return text;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new BadText("the payload is not UTF-8");
  }
}

function bad(code: DenialCode, detail: string): BadRequest {
  return { id: null, tool: undefined, args: undefined, problem: { code, detail } };
}

function isId(value: Json | undefined): value is JsonRpcId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function own(value: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function findOther(value: JsonObject, known: readonly string[]): string | undefined {
  return Object.keys(value).find((key) => !known.includes(key));
}

function quote(key: string): string {
  return JSON.stringify(key.slice(0, 100));
}
