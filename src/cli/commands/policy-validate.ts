import type { Command } from "commander";
import { type Issue, type Policy, PolicyError, parsePolicy } from "../../core/index.ts";
import { MAX_POLICY_BYTES } from "../../core/policy.ts";
import { addCommand, type CommandHost } from "../command.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { printable } from "../output/printable.ts";
import { readTextFile } from "../read-text.ts";

/** What `policy validate` says of one file. */
export interface PolicyFileReport {
  readonly file: string;
  readonly valid: boolean;
  /** How many; of a valid policy. */
  readonly rules?: number;
  readonly issues: readonly Issue[];
}

/** A policy in a file, or what is wrong with it. */
export type PolicyFile =
  | { readonly policy: Policy; readonly text: string; readonly issues?: undefined }
  | { readonly policy?: undefined; readonly issues: readonly Issue[] };

/** @throws CliError `ERR_FILE` if the file cannot be read */
export async function readPolicyFile(file: string, io: CliIo): Promise<PolicyFile> {
  try {
    const text = await readTextFile(file, { io, maxBytes: MAX_POLICY_BYTES });
    return { policy: parsePolicy(text), text };
  } catch (error) {
    if (error instanceof PolicyError) return { issues: error.issues };
    // Read, but no text that a policy could be.
    if (error instanceof CliError && error.exitCode === EXIT.negative) {
      return { issues: [{ path: "", message: error.message.slice(`${printable(file)}: `.length) }] };
    }
    throw error;
  }
}

/** `file:line:column: message`, as editors and compilers write it; one line each. */
export function printIssues(file: string, issues: readonly Issue[]): string {
  return issues
    .map(({ path, message, line = 1, column = 1 }) => {
      const text = path === "" ? message : `${path}: ${message}`;
      return `${printable(file)}:${line}:${column}: ${printable(text)}\n`;
    })
    .join("");
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
