import { IntentlockError } from "../../core/index.ts";
import { checkParameters } from "./parameters.ts";

/** PostgreSQL takes less than 8000 bytes. */
const MAX_SIGNAL_BYTES = 7900;

/**
 * A signal as one text, for the one channel of PostgreSQL that a store uses.
 *
 * @throws IntentlockError `ERR_INVALID_OPTIONS`; `ERR_INVALID_TEXT`
 */
export function printSignal(channel: string, payload: string): string {
  checkParameters([channel, payload]);
  const text = `${channel} ${payload}`;
  if (!/^[a-z_]{1,40}$/.test(channel) || Buffer.byteLength(text) > MAX_SIGNAL_BYTES) {
    throw new IntentlockError(
      "ERR_INVALID_OPTIONS",
      `A signal has a channel of lower-case letters and at most ${MAX_SIGNAL_BYTES} bytes`,
    );
  }
  return text;
}

/** @returns undefined for what {@link printSignal} has not written: anybody with the database may signal */
export function parseSignal(
  text: string | undefined,
): { readonly channel: string; readonly payload: string } | undefined {
  const [, channel, payload] = /^([a-z_]{1,40}) (.*)$/s.exec(text ?? "") ?? [];
  return channel === undefined || payload === undefined ? undefined : { channel, payload };
}
