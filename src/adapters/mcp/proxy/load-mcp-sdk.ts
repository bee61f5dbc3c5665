import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { missingPeer } from "../../../session/setup-errors.ts";

/** What is used of the SDK: its transports, and nothing that decides. */
export interface McpSdk {
  readonly StdioClientTransport: typeof import("@modelcontextprotocol/sdk/client/stdio.js").StdioClientTransport;
  readonly StdioServerTransport: typeof import("@modelcontextprotocol/sdk/server/stdio.js").StdioServerTransport;
  readonly HttpClientTransport: typeof import("@modelcontextprotocol/sdk/client/streamableHttp.js").StreamableHTTPClientTransport;
  readonly HttpServerTransport: typeof import("@modelcontextprotocol/sdk/server/streamableHttp.js").StreamableHTTPServerTransport;
}

export type { Transport };

/** The SDK, loaded when it is first needed. @throws IntentlockError `ERR_MISSING_PEER` with the command that installs it */
export async function loadMcpSdk(): Promise<McpSdk> {
  try {
    const [{ StdioClientTransport }, { StdioServerTransport }, http, listen] = await Promise.all([
      import("@modelcontextprotocol/sdk/client/stdio.js"),
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
      import("@modelcontextprotocol/sdk/server/streamableHttp.js"),
    ]);
    return {
      StdioClientTransport,
      StdioServerTransport,
      HttpClientTransport: http.StreamableHTTPClientTransport,
      HttpServerTransport: listen.StreamableHTTPServerTransport,
    };
  } catch (cause) {
    throw missingPeer("mcp", "@modelcontextprotocol/sdk", "^1.32", cause);
  }
}
