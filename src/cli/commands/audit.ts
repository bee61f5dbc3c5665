import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Store } from "../../server/store/index.ts";
import { type AuditReport, AuditVerifier } from "../audit/audit-report.ts";
import { loadKeySet } from "../audit/key-set.ts";
import { readOutboxPlans } from "../audit/outbox-plans.ts";
import { readStorePlans } from "../audit/store-plans.ts";
import { readTasks } from "../audit/tasks.ts";
import { addCommand, addGroup, type CommandHost, type CommandInput } from "../command.ts";
import { CliError, usageError } from "../exit-codes.ts";
import { findAgent } from "../find-agent.ts";
import { printAudit } from "../output/print-audit.ts";
import { printable } from "../output/printable.ts";

interface VerifyOptions {
  readonly agent?: string;
  readonly plan?: string;
  readonly outbox?: string;
  readonly jwks?: string;
  readonly tasks?: string;
}

export function addAuditCommands(program: Command, host: CommandHost): void {
  const audit = addGroup(program, "audit", "check what was recorded");
  addCommand<VerifyOptions>(audit, host, {
    usage: "verify",
    summary: "verify the chains of audit entries and make every decision again",
    details:
      "Looks at the server's store, or with --outbox at the file of a gate: for each plan that no entry is missing or\n" +
      "changed, that its tokens are signed, and that every decision comes out the same when it is made again from its\n" +
      "token. Of the store it also verifies the trail of what administrators did. An outbox needs no store.",
    examples: [
      "audit verify",
      "audit verify --agent triage --json",
      "audit verify --outbox .intentlock/outbox.db --jwks https://lock.example.com/.well-known/jwks.json",
    ],
    options: [
      new Option("--agent <name>", "only this agent's plans (of an outbox: the agent's id)"),
      new Option("--plan <id>", "only this plan"),
      new Option("--outbox <file>", "an outbox instead of the server's store").conflicts("database"),
      new Option("--jwks <url|file>", "the public keys that may have signed an outbox's plans"),
      new Option("--tasks <file>", "JSON: what users asked for, by the id of an outbox's plan"),
    ],
    store: true,
    run: async (input) => {
      const { outbox, jwks, tasks } = input.options;
      if (outbox === undefined && jwks !== undefined) {
        throw usageError("--jwks goes with --outbox: the server's store has its keys");
      }
      if (outbox === undefined && tasks !== undefined) {
        throw usageError("--tasks goes with --outbox: the server's store has the tasks");
      }
      const report =
        outbox === undefined ? await input.withStore((store) => verifyStore(store, input)) : await verifyOutbox(input);
      return { value: report, text: printAudit(report, input.paint), negative: !report.ok };
    },
  });
}

async function verifyStore(store: Store, input: CommandInput<VerifyOptions>): Promise<AuditReport> {
  const { agent: name, plan: planId } = input.options;
  const agent = name === undefined ? undefined : await findAgent(store, name);
  const keys = await store.signingKeys.list();
  const verifier = new AuditVerifier(keys.map(({ publicKey }) => publicKey));
  for await (const plan of readStorePlans(store, { agent, planId })) {
    await verifier.add(plan);
    input.progress.update(`verified ${verifier.plans} plans`);
  }
  const report = verifier.report(input.location().shown);
  // What administrators did is one chain: it is nobody's part.
  if (name !== undefined || planId !== undefined) return report;
  const { problem } = await store.adminAudit.verify();
  if (!problem) return report;
  const found = { planId: "(administrators)", seq: problem.seq, problem: problem.what };
  return { ...report, ok: false, problems: [...report.problems, found] };
}

async function verifyOutbox({ options, io, progress }: CommandInput<VerifyOptions>): Promise<AuditReport> {
  const { outbox = "", jwks, agent, plan: planId, tasks: file } = options;
  if (jwks === undefined) throw usageError("--outbox needs --jwks: the keys that may have signed its plans");
  const verifier = new AuditVerifier(await loadKeySet(jwks, io));
  const tasks = file === undefined ? undefined : await readTasks(file, io);
  for (const plan of readOutboxPlans(resolve(io.cwd, outbox), planId)) {
    // Whose plan it is comes from its token, which is then verified for that agent.
    if (agent !== undefined && plan.agentId !== agent) continue;
    const task = tasks?.get(plan.planId);
    await verifier.add(task ? { ...plan, task } : plan);
    progress.update(`verified ${verifier.plans} plans`);
  }
  if (planId !== undefined && verifier.plans === 0) {
    throw new CliError("ERR_NOT_FOUND", `There is no plan ${printable(planId)} in this outbox.`);
  }
  return verifier.report(outbox);
}
