import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { generateSigningKey, IntentlockError, isJsonObject, parseJson, type SigningKey } from "../../core/index.ts";
import { parseSigningKey } from "../../core/signing-key.ts";
import { CliError } from "../exit-codes.ts";
import type { CliIo } from "../io.ts";
import { printable } from "../output/printable.ts";
import { readTextFile } from "../read-text.ts";

const MAX_KEY_BYTES = 10_000;

/**
 * The signing key in a file, as a private JWK; one is made if there is no file, for this user alone.
 *
 * @throws CliError `ERR_FILE`, `ERR_INVALID_KEY`, quoting nothing of the key
 */
export async function readSigningKeyFile(file: string, io: CliIo): Promise<SigningKey> {
  const made = await generateSigningKey();
  try {
    await writeFile(resolve(io.cwd, file), `${JSON.stringify(made.privateKey)}\n`, { flag: "wx", mode: 0o600 });
    return made;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== "EEXIST") throw new CliError("ERR_FILE", `${printable(file)}: ${printable(message)}`, { cause });
  }
  return parseKey(await readTextFile(file, { io, maxBytes: MAX_KEY_BYTES }), file);
}

function parseKey(text: string, file: string): SigningKey {
  try {
    const privateKey = parseJson(text);
    if (!isJsonObject(privateKey)) throw new IntentlockError("ERR_INVALID_KEY", "It is no object");
    const { d: _, ...publicKey } = privateKey;
    return parseSigningKey({ kid: publicKey.kid, privateKey, publicKey } as unknown as SigningKey);
  } catch (error) {
    if (!(error instanceof IntentlockError)) throw error;
    throw new CliError("ERR_INVALID_KEY", `${printable(file)}: it is no Ed25519 signing key, as a private JWK`);
  }
}
