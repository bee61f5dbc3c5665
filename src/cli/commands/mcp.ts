import { type Command, Option } from "commander";
import { PASSINGS } from "../../adapters/mcp/proxy/what-passes.ts";
import { addCommand, type CommandHost } from "../command.ts";
import { type McpOptions, readSettings } from "../mcp/proxy-settings.ts";
import { runProxy } from "../mcp/run-proxy.ts";
import { listOption, numberOption, oneOf, parseEmail } from "../options.ts";

export function addMcpCommand(program: Command, host: CommandHost): void {
  addCommand<McpOptions>(program, host, {
    usage: "mcp [command...]",
    summary: "lock an MCP server: a proxy between it and its client",
    details:
      "Runs the command after -- as the server, or takes the one at --server, and checks every tool call against a signed\n" +
      "plan. Clients talk to it over stdio, or over streamable HTTP with --listen. Logs go to the error stream.",
    examples: [
      "mcp --policy policy.yaml --plan plan.json --user you@example.com -- npx -y some-server",
      "mcp --declare --gate hybrid --url https://lock.example.com --user you@example.com -- npx -y some-server",
      "mcp --policy policy.yaml --plan plan.json --user you@example.com --server https://mcp.example.com/mcp --listen 4800",
    ],
    options: [
      new Option("--plan <file>", "the plan, as JSON"),
      new Option("--declare", "the client's model declares the plan, and a person approves it: needs a server"),
      new Option("--user <email>", "for whom the calls are").argParser(parseEmail),
      new Option("--task <text>", "what the user asked for (default: the goal of the plan)"),
      new Option("--policy <file>", "the policy of a local gate"),
      new Option("--gate <kind>", "who decides").choices(["local", "hybrid", "http"]).default("local"),
      new Option("--url <url>", "the Intentlock server of a hybrid or http gate"),
      new Option("--api-key-env <name>", "the variable that has the agent's API key").default("INTENTLOCK_API_KEY"),
      new Option("--outbox <file>", "the durable record of a local or hybrid gate"),
      new Option("--signing-key <file>", "with which a local gate signs; made if it is not there"),
      numberOption("--wait <seconds>", "the longest wait for a person", [1, 86_400]).default(300),
      new Option("--server <url>", "the MCP server that is locked, over streamable HTTP"),
      new Option("--server-token-env <name>", "the variable that has a bearer token for --server"),
      numberOption("--listen <port>", "take clients over streamable HTTP, from this machine; 0: any port", [0, 65_535]),
      new Option("--deny-as <form>", "how a blocked call is answered").choices(["result", "error"]).default("result"),
      listOption(
        "--allow <what>",
        `what passes beside tool calls: ${PASSINGS.join(", ")}; may be repeated`,
        oneOf(PASSINGS),
      ),
    ],
    run: async ({ args, options, io }) => {
      await runProxy({ options, settings: readSettings(options, args, io), io });
      return undefined;
    },
  });
}
