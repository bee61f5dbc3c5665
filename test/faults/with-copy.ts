import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Fault, plantFault } from "./fault.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Works on a copy of the repository's files as they are now, committed or not, in a folder that is removed afterwards.
 *
 * @param fault is in the copy, if it is given
 */
export async function withCopy<T>(fault: Fault | undefined, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "planted-fault-"));
  try {
    for (const file of listFiles()) cpSync(join(root, file), join(folder, file));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    if (fault) writeFileSync(join(folder, fault.file), plantIn(fault));
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The fault's file with the fault in it. @throws Error as {@link plantFault} does */
export function plantIn(fault: Fault): string {
  return plantFault(readFileSync(join(root, fault.file), "utf8"), fault);
}

function listFiles(): string[] {
  const argv = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", argv, { cwd: root, encoding: "utf8", maxBuffer: 10_000_000 });
  // What was removed, and is not committed yet, is listed all the same.
  return listed.split("\0").filter((file) => file !== "" && existsSync(join(root, file)));
}
