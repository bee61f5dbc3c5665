import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, EXIT } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";
import { printable } from "./output/printable.ts";

/**
 * Reads a file of UTF-8 text. No more of it than may be used is read: it may be a pipe, or a device without an end.
 *
 * @throws CliError `ERR_FILE` if it cannot be read, is longer, or is not UTF-8
 */
export async function readTextFile(file: string, { io, maxBytes }: { io: CliIo; maxBytes: number }): Promise<string> {
  const bytes = await readBytes(resolve(io.cwd, file), maxBytes + 1).catch((cause: NodeJS.ErrnoException) => {
    throw new CliError("ERR_FILE", `${printable(file)}: ${explain(cause)}`, { cause });
  });
  if (bytes.length > maxBytes) {
    throw new CliError("ERR_FILE", `${printable(file)}: it has more than ${maxBytes} bytes`, {
      exitCode: EXIT.negative,
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CliError("ERR_FILE", `${printable(file)}: it is not UTF-8 text`, { exitCode: EXIT.negative, cause });
  }
}

async function readBytes(path: string, most: number): Promise<Uint8Array> {
  const handle = await open(path, "r");
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    while (length < most) {
      const { bytesRead, buffer } = await handle.read(new Uint8Array(Math.min(65_536, most - length)));
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    return Buffer.concat(chunks);
  } finally {
    await handle.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
};

function explain({ code, message }: NodeJS.ErrnoException): string {
  return (code !== undefined && Object.hasOwn(REASONS, code) && REASONS[code]) || message;
}
