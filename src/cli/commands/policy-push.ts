import { type Command, Option } from "commander";
import { pushPolicy } from "../../server/admin/policies.ts";
import { addCommand, type CommandHost } from "../command.ts";
import { findAgent } from "../find-agent.ts";
import { createOperator } from "../operator.ts";
import { numberOption } from "../options.ts";
import { printable } from "../output/printable.ts";
import { requirePolicyFile } from "../policy/policy-file.ts";

interface PushOptions {
  readonly agent: string;
  readonly comment?: string;
  readonly baseVersion?: number;
}

export function addPolicyPush(parent: Command, host: CommandHost): void {
  addCommand<PushOptions>(parent, host, {
    usage: "push <file>",
    summary: "put a policy in force for an agent, as its next version",
    details: "Plans that are signed or renewed from then on go by it. Every version is kept.",
    examples: ['policy push --agent triage policy.yaml --comment "Holds for comments"'],
    options: [
      new Option("--agent <name>", "whose policy it is").makeOptionMandatory(),
      new Option("--comment <text>", "why, for those who read the versions"),
      numberOption("--base-version <number>", "push only if this version counts (0: none)", [0, 999_999_999]),
    ],
    store: true,
    run: async ({ args: [file = ""], options: { agent, comment, baseVersion }, io, withStore }) => {
      const { text } = await requirePolicyFile(file, io);
      return withStore(async (store) => {
        const { id, name } = await findAgent(store, agent);
        const body = {
          text,
          ...(comment !== undefined && { comment }),
          ...(baseVersion !== undefined && { baseVersion }),
        };
        const pushed = await pushPolicy(createOperator(store, io), id, body);
        return { value: pushed, text: `${printable(name)} has version ${pushed.version} of its policy.\n` };
      });
    },
  });
}
