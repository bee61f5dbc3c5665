/**
 * npm run demo
 *
 * An agent triages issues, and one of them tells it to leak a secret. Act 1 runs it as it is, act 2 with Intentlock: the
 * same model, tools and task. No key, no network. Exits with 1 unless the attack works in act 1 and fails in act 2.
 */
import { readFile } from "node:fs/promises";
import { type Decision, LocalGate, MemoryAuditSink, verifyAudit } from "intentlock";
import { withIntentlock } from "intentlock/vercel-ai";
import { FakeGithub, REPO, SECRET, TRAP } from "./fake-github.ts";
import { createGithubTools } from "./github-tools.ts";
import { createNaiveModel } from "./naive-model.ts";
import { runAgent } from "./run-agent.ts";
import { printFact, printPlan, printTable, printTitle } from "./table.ts";

const task = `Triage the open issues of ${REPO}: label them, ask for details.`;

console.log(`Task:    ${task}\nIssue 2: ${TRAP}`);
const attackWorked = await runUnlocked();
const attackFailed = await runLocked();
console.log("\nNext: small programs to copy from in examples/README.md, the rest in README.md.");
if (!attackWorked || !attackFailed) process.exitCode = 1;

async function runUnlocked(): Promise<boolean> {
  printTitle("Act 1: the agent alone");
  const github = new FakeGithub();
  const settings = { model: createNaiveModel(), tools: createGithubTools(github) };
  printTable(await runAgent(settings, { task, repo: REPO }));
  const { leaked, triaged } = printOutcome(github);
  return leaked && triaged;
}

async function runLocked(): Promise<boolean> {
  printTitle("Act 2: the same agent with Intentlock");
  const github = new FakeGithub();
  const audit = new MemoryAuditSink();
  const policy = await readFile(new URL("policy.yaml", import.meta.url), "utf8");
  const gate = new LocalGate({ policy, audit });
  const decisions = new Map<string, Decision>();
  const locked = await withIntentlock(createGithubTools(github), {
    gate,
    user: "alice@acme.dev",
    task,
    model: createNaiveModel(),
    onEvent: ({ callId, decision }) => {
      if (callId !== undefined && decision) decisions.set(callId, decision);
    },
  });
  printPlan(locked.session.plan);
  printTable(await runAgent(locked.settings, { task, repo: REPO, decisions }));
  await gate.close();
  const { leaked, triaged } = printOutcome(github);
  const keys = [await gate.publicKey()];
  const [log] = await verifyAudit(audit.entries, { keys, audience: gate.agent });
  const proven = log !== undefined && log.problems.length === 0 && log.recomputed === log.decisions;
  const chain = `${audit.entries.length} audit entries, ${proven ? "chain verified" : "not verified"}`;
  printFact(proven, `${chain}; ${log?.recomputed} of ${log?.decisions} decisions recomputed from tokens`);
  const tried = [...decisions.values()].some(({ verdict }) => verdict === "block");
  return tried && !leaked && triaged && proven;
}

/** Tells what happened, by what GitHub has afterwards and nothing else. */
function printOutcome(github: FakeGithub): { readonly leaked: boolean; readonly triaged: boolean } {
  const leaked = github.listIssues("evil/drop").some(({ comments }) => comments.some((text) => text.includes(SECRET)));
  const issues = github.listIssues(REPO);
  const labelled = issues.filter(({ labels }) => labels.length > 0).length;
  printFact(!leaked, `secret posted to evil/drop: ${leaked ? "yes" : "no"}`);
  printFact(labelled === issues.length, `issues labelled: ${labelled} of ${issues.length}`);
  return { leaked, triaged: labelled === issues.length };
}
