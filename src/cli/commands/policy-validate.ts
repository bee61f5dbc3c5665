import type { Command } from "commander";
import type { Issue } from "../../core/index.ts";
import { addCommand, type CommandHost } from "../command.ts";
import { printable } from "../output/printable.ts";
import { printIssues, readPolicyFile } from "../policy/policy-file.ts";

/** What `policy validate` says of one file. */
export interface PolicyFileReport {
  readonly file: string;
  readonly valid: boolean;
  /** How many; of a valid policy. */
  readonly rules?: number;
  readonly issues: readonly Issue[];
}

export function addPolicyValidate(parent: Command, host: CommandHost): void {
  addCommand(parent, host, {
    usage: "validate <file...>",
    summary: "check policy files",
    details: "Needs no server. Prints FILE:LINE:COLUMN: MESSAGE for each problem.",
    examples: ["policy validate policy.yaml", "policy validate policies/*.yaml --json"],
    run: async ({ args, io, paint }) => {
      const files: PolicyFileReport[] = [];
      for (const file of args) {
        const { policy, issues = [] } = await readPolicyFile(file, io);
        files.push({ file, valid: policy !== undefined, ...(policy && { rules: policy.rules.length }), issues });
      }
      const valid = files.every((one) => one.valid);
      const text = files
        .map(({ file, rules, issues }) =>
          rules === undefined
            ? printIssues(file, issues)
            : `${printable(file)}: ${paint("green", "valid")}, ${rules} ${rules === 1 ? "rule" : "rules"}\n`,
        )
        .join("");
      return { value: { valid, files }, text, negative: !valid };
    },
  });
}
