import type { Command } from "commander";
import { addGroup, type CommandHost } from "../command.ts";
import { addPolicyPush } from "./policy-push.ts";
import { addPolicyTest } from "./policy-test.ts";
import { addPolicyValidate } from "./policy-validate.ts";

export function addPolicyCommands(program: Command, host: CommandHost): void {
  const policy = addGroup(program, "policy", "check policies, try them and put them in force");
  addPolicyValidate(policy, host);
  addPolicyTest(policy, host);
  addPolicyPush(policy, host);
}
