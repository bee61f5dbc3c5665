import { type Command, Option } from "commander";
import { MAX_REPLAY } from "../../core/api/index.ts";
import { parsePolicy } from "../../core/index.ts";
import { testPolicy } from "../../server/policies/test-policy.ts";
import { addCommand, type CommandHost } from "../command.ts";
import { findAgent } from "../find-agent.ts";
import { createOperator } from "../operator.ts";
import { numberOption } from "../options.ts";
import { printPolicyTest } from "../output/print-policy-test.ts";
import { requirePolicyFile } from "../policy/policy-file.ts";
import { readSampleCalls } from "../policy/sample-calls.ts";

interface TestOptions {
  readonly agent: string;
  readonly replay: number;
  readonly calls?: string;
  readonly failOnChange?: boolean;
}

const DEFAULT_REPLAY = 50;

export function addPolicyTest(parent: Command, host: CommandHost): void {
  addCommand<TestOptions>(parent, host, {
    usage: "test <file>",
    summary: "show which verdicts a policy would change",
    details: "Makes the agent's last decisions again under the policy in the file. Nothing is changed.",
    examples: [
      "policy test --agent triage policy.yaml --replay 200",
      "policy test --agent triage policy.yaml --calls calls.json --replay 0",
      "policy test --agent triage policy.yaml --fail-on-change",
    ],
    options: [
      new Option("--agent <name>", "whose decisions").makeOptionMandatory(),
      numberOption("--replay <number>", "how many of the last decisions", [0, MAX_REPLAY]).default(DEFAULT_REPLAY),
      new Option("--calls <file>", "JSON: a list of calls to try, each { tool, args, user? }"),
      new Option("--fail-on-change", "end with 1 if a verdict changes"),
    ],
    store: true,
    run: async ({ args: [file = ""], options, io, paint, progress, withStore }) => {
      const { policy: next } = await requirePolicyFile(file, io);
      const calls = options.calls === undefined ? [] : await readSampleCalls(options.calls, io);
      return withStore(async (store) => {
        const agent = await findAgent(store, options.agent);
        const stored = await store.policies.latest(agent.id);
        const current = stored && parsePolicy(stored.text);
        progress.update(`deciding again, ${options.replay} decisions at most …`);
        const { replay } = options;
        const answer = await testPolicy(
          createOperator(store, io),
          { agent, current, next, withCalls: false },
          { replay, calls },
        );
        const negative = options.failOnChange === true && answer.changed > 0;
        return { value: answer, text: printPolicyTest(answer, paint), negative };
      });
    },
  });
}
