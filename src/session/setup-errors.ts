import { IntentlockError } from "../core/index.ts";

/** @param entry the subpath that needs the package @param range what to install of it */
export function missingPeer(entry: string, name: string, range: string, cause: unknown): IntentlockError {
  return new IntentlockError(
    "ERR_MISSING_PEER",
    `intentlock/${entry} needs the package "${name}": npm install ${name}@${range}`,
    { cause },
  );
}

/** A schema that no model can be told of, and no plan be made with. */
export function unwritableSchema(tool: string, cause: unknown): IntentlockError {
  const why = cause instanceof Error ? cause.message : "it throws";
  return new IntentlockError(
    "ERR_INVALID_OPTIONS",
    `The input schema of the tool ${tool} cannot be written as JSON Schema (${why}): take what JSON has, and convert inside the tool`,
    { cause },
  );
}

/** @param lines each a tool that the gate cannot see, and why @throws IntentlockError `ERR_UNGATED_TOOLS` if there are any */
export function assertNoneUngated(lines: readonly string[]): void {
  if (lines.length === 0) return;
  throw new IntentlockError(
    "ERR_UNGATED_TOOLS",
    `These tools cannot be locked:\n${lines.map((line) => `  ${line}`).join("\n")}\nLeave them out, or name them in allowUngated and do without a check of their calls.`,
  );
}

/** After the fact: whatever the tool did, it has done. */
export function providerRan(tool: string | undefined): IntentlockError {
  return new IntentlockError(
    "ERR_UNGATED_TOOLS",
    `The model's provider ran ${JSON.stringify(tool)}, which the gate cannot see. Name it in allowUngated, or turn it off at the provider.`,
  );
}
