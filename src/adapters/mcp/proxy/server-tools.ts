import { DECLARE_PLAN, fingerprintTool, isToolName, type JsonObject } from "../../../core/index.ts";
import { freezeJson, isJsonObject } from "../../../core/json.ts";
import type { SessionTool } from "../../../session/index.ts";
import { describeTools } from "../describe-tools.ts";
import type { Members, Reply } from "./peer.ts";

/** A tool as its server has listed it. */
export interface ListedTool {
  readonly listed: JsonObject;
  readonly tool: SessionTool;
  readonly fingerprint: string;
}

export type ToolList = ReadonlyMap<string, ListedTool>;

/** A server that never stops listing is none. */
const MAX_PAGES = 100;
const MAX_TOOLS = 2000;

export interface ServerToolsOptions {
  readonly ask: (method: string, params: Members | undefined) => Promise<Reply>;
  /** Hears of tools that cannot be locked, once each. */
  readonly leaveOut: (line: string) => void;
}

/** The tools of a server as it lists them now. */
export class ServerTools {
  readonly #options: ServerToolsOptions;
  readonly #leftOut = new Set<string>();
  #current: Promise<ToolList> | undefined;

  constructor(options: ServerToolsOptions) {
    this.#options = options;
  }

  /** As they were listed last. Waits if they are being listed again. */
  async current(): Promise<ToolList> {
    return await (this.#current ?? this.refresh());
  }

  /** Lists them again: what comes of it holds for calls that come from now on. @throws Error if the server does not */
  async refresh(): Promise<ToolList> {
    const listing = this.#list();
    this.#current = listing;
    try {
      return await listing;
    } catch (error) {
      // The next call asks again.
      if (this.#current === listing) this.#current = undefined;
      throw error;
    }
  }

  async #list(): Promise<ToolList> {
    const given: unknown[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const reply = await this.#options.ask("tools/list", cursor === undefined ? undefined : { cursor });
      if ("error" in reply) throw new Error(`The server does not list its tools: ${reply.error.message}`);
      const { tools, nextCursor } = reply.result;
      if (!Array.isArray(tools)) throw new Error("The server does not list its tools: it gave no list");
      given.push(...tools);
      if (given.length > MAX_TOOLS) break;
      if (typeof nextCursor !== "string") return this.#read(given);
      cursor = nextCursor;
    }
    throw new Error(`The server lists more than ${MAX_TOOLS} tools or ${MAX_PAGES} pages of them`);
  }

  #read(given: readonly unknown[]): ToolList {
    const tools = new Map<string, ListedTool>();
    const twice = new Set<string>();
    for (const one of given) {
      const read = readTool(one);
      const { name } = read.tool;
      if (tools.has(name)) twice.add(name);
      if (read.fault !== undefined) this.#leaveOut(name, read.fault);
      else tools.set(name, read);
    }
    for (const name of twice) {
      tools.delete(name);
      this.#leaveOut(name, "the server lists it twice");
    }
    return tools;
  }

  #leaveOut(name: string, fault: string): void {
    const line = `${JSON.stringify(name.slice(0, 100))} is left out: ${fault}`;
    if (this.#leftOut.has(line) || this.#leftOut.size >= MAX_TOOLS) return;
    this.#leftOut.add(line);
    this.#options.leaveOut(line);
  }
}

function readTool(given: unknown): (ListedTool & { fault?: undefined }) | { tool: { name: string }; fault: string } {
  try {
    const listed = freezeJson(given, 1_048_576);
    if (isJsonObject(listed) && typeof listed.name === "string") {
      const { name, description, inputSchema = null } = listed;
      if (name === DECLARE_PLAN) return { tool: { name }, fault: "the name is reserved" };
      if (!isToolName(name)) return { tool: { name }, fault: "a name is 1 to 64 letters, digits, _ or -" };
      if (description !== undefined && typeof description !== "string") {
        return { tool: { name }, fault: "its description is no text" };
      }
      const [tool] = describeTools([{ name, description, inputSchema }]);
      if (tool) return { listed, tool, fingerprint: fingerprintTool(tool) };
    }
  } catch {
    // Not JSON that can be signed.
  }
  return { tool: { name: "" }, fault: "it cannot be read" };
}
