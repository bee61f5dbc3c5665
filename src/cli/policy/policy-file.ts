import { type Issue, type Policy, PolicyError, parsePolicy } from "../../core/index.ts";
import { MAX_POLICY_BYTES } from "../../core/policy.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { printable } from "../output/printable.ts";
import { readTextFile } from "../read-text.ts";

/** A policy in a file, or what is wrong with it. */
export type PolicyFile =
  | { readonly policy: Policy; readonly text: string; readonly issues?: undefined }
  | { readonly policy?: undefined; readonly text?: undefined; readonly issues: readonly Issue[] };

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

/** `file:line:column: message`, as editors and compilers write it; one line each, from the top. */
export function printIssues(file: string, issues: readonly Issue[]): string {
  return issues
    .toSorted((one, other) => (one.line ?? 1) - (other.line ?? 1) || (one.column ?? 1) - (other.column ?? 1))
    .map(({ path, message, line = 1, column = 1 }) => {
      const text = path === "" ? message : `${path}: ${message}`;
      return `${printable(file)}:${line}:${column}: ${printable(text)}\n`;
    })
    .join("");
}

/** A policy that something is to be done with. @throws CliError `ERR_INVALID_POLICY` with every problem, `ERR_FILE` */
export async function requirePolicyFile(
  file: string,
  io: CliIo,
): Promise<{ readonly policy: Policy; readonly text: string }> {
  const { policy, text, issues } = await readPolicyFile(file, io);
  if (policy) return { policy, text };
  const message = `The policy is not valid:\n${printIssues(file, issues).trimEnd()}`;
  throw new CliError("ERR_INVALID_POLICY", message, { exitCode: EXIT.negative, issues });
}
