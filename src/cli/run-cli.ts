import { Command } from "commander";
import { readPackageVersion } from "../server/package-version.ts";
import type { CommandHost } from "./command.ts";
import { addAgentCommands } from "./commands/agent.ts";
import { addAuditCommands } from "./commands/audit.ts";
import { addKeyCommands } from "./commands/key.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addPlanCommands } from "./commands/plan.ts";
import { addPolicyCommands } from "./commands/policy.ts";
import { addServeCommand } from "./commands/serve.ts";
import { addSigningKeyCommands } from "./commands/signing-key.ts";
import { addUserCommands } from "./commands/user.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { type CliIo, readEnv } from "./io.ts";
import { reportError } from "./output/report-error.ts";

/** In the order in which the help has them. */
const GROUPS: readonly ((program: Command, host: CommandHost) => void)[] = [
  addServeCommand,
  addMcpCommand,
  addAgentCommands,
  addKeyCommands,
  addUserCommands,
  addPlanCommands,
  addPolicyCommands,
  addAuditCommands,
  addSigningKeyCommands,
];

/**
 * Runs one command line, as `intentlock` does.
 *
 * @param argv without the names of the program
 * @returns the exit code: 0 done, 1 the answer is no, 2 not understood, 3 could not be done. Never rejects.
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  const json = wantsJson(argv);
  try {
    const program = createProgram({ io, end: (ended) => (code = ended) }, { json });
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    return reportError(error, io, { json });
  }
}

function createProgram(host: CommandHost, { json }: { readonly json: boolean }): Command {
  const { io } = host;
  const program = new Command("intentlock")
    .description("Locks AI agents to what their users asked for: policies, the server, MCP servers, and the audit.")
    .version(readPackageVersion(), "-V, --version", "print the version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // Help that nobody asked for; errors are reported in one place, and as JSON if that was asked for.
      writeErr: (text) => void (json || io.stderr.write(text)),
      outputError: () => {},
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
      getOutHasColors: () => io.stdout.isTTY === true && readEnv(io, "NO_COLOR") === undefined,
      getErrHasColors: () => io.stderr.isTTY === true && readEnv(io, "NO_COLOR") === undefined,
    })
    .addHelpText("after", "\nRun intentlock COMMAND --help for its options and an example.");
  for (const add of GROUPS) add(program, host);
  return program;
}

/** Also of a command line that is not understood. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? undefined : end).includes("--json");
}
