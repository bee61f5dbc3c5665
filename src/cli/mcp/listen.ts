import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpSdk } from "../../adapters/mcp/proxy/load-mcp-sdk.ts";
import type { ProxyConnection } from "../../adapters/mcp/proxy/proxy-connection.ts";
import { CliError } from "../exit-codes.ts";

type HttpTransport = InstanceType<McpSdk["HttpServerTransport"]>;

interface Client {
  readonly transport: HttpTransport;
  readonly connection: ProxyConnection;
}

export interface ListenOptions {
  readonly port: number;
  readonly sdk: McpSdk;
  /** Makes the proxy of one client, not started. @param number of the client, from 1 */
  readonly connect: (transport: HttpTransport, number: number) => ProxyConnection;
  readonly log: (line: string) => void;
  /** Default: 16. */
  readonly maxClients?: number;
}

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Each has a server of its own. Clients often go without a word: then whoever was heard of least recently makes room. */
const MAX_CLIENTS = 16;
const PATH = "/mcp";

/** Takes clients over streamable HTTP, from this machine alone. @throws CliError `ERR_LISTEN` */
export async function listen(options: ListenOptions): Promise<Listening> {
  const clients = new Clients(options);
  const server = createServer((request, response) => {
    clients.take(request, response).catch((error: Error) => {
      options.log(`a request failed: ${error.message}`);
      if (!response.headersSent) refuse(response, 500, "It could not be done");
    });
  });
  server.listen(options.port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new CliError("ERR_LISTEN", `Nothing can listen on port ${options.port}: end what does, or give another`, {
      cause,
    });
  }
  clients.port = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${clients.port}${PATH}`,
    close: async () => {
      server.close();
      await clients.close();
      server.closeAllConnections();
    },
  };
}

class Clients {
  readonly #options: ListenOptions;
  /** By their session ids, the one heard of last at the end. */
  readonly #clients = new Map<string, Client>();
  #count = 0;
  port = 0;

  constructor(options: ListenOptions) {
    this.#options = options;
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (!this.#isFromHere(request)) return refuse(response, 403, "Only programs of this machine, and no web pages");
    if (pathname !== PATH) return refuse(response, 404, `The address is ${PATH}`);
    const id = request.headers["mcp-session-id"];
    if (id === undefined) return await this.#begin().handleRequest(request, response);
    const client = this.#clients.get(String(id));
    if (!client) return refuse(response, 404, "There is no such session");
    this.#clients.delete(String(id));
    this.#clients.set(String(id), client);
    await client.transport.handleRequest(request, response);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#clients.values()].map(({ connection }) => connection.close()));
  }

  /** A name that resolves to this machine may be somebody's, and so may a page in a browser that asks for it. */
  #isFromHere({ headers: { host, origin } }: IncomingMessage): boolean {
    const hosts = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${this.port}`);
    return hosts.includes(host ?? "") && (origin === undefined || hosts.some((one) => origin === `http://${one}`));
  }

  #begin(): HttpTransport {
    const { sdk, connect, log } = this.#options;
    const transport: HttpTransport = new sdk.HttpServerTransport({
      sessionIdGenerator: randomUUID,
      // Only now is it a client: whatever else is sent starts no server.
      onsessioninitialized: async (id) => {
        const connection = connect(transport, ++this.#count);
        this.#clients.set(id, { transport, connection });
        void connection.ended.then((error) => {
          this.#clients.delete(id);
          if (error) log(error.message);
        });
        this.#makeRoom();
        try {
          await connection.start();
        } catch (error) {
          log(`the server cannot be started: ${error instanceof Error ? error.message : String(error)}`);
          await connection.close();
          throw error;
        }
      },
    });
    return transport;
  }

  #makeRoom(): void {
    const [oldest] = this.#clients.values();
    if (this.#clients.size > (this.#options.maxClients ?? MAX_CLIENTS)) void oldest?.connection.close();
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const error = { jsonrpc: "2.0", id: null, error: { code: -32_000, message } };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(error));
}
