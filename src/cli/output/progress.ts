import type { CliIo } from "../io.ts";

/** Says on the error stream how far long work is. */
export interface Progress {
  update(text: string): void;
  end(): void;
}

const EVERY_MS = 100;
const CLEAR_LINE = "\r\u001b[K";

/** On a terminal one line that is written over; nothing anywhere else. */
export function createProgress({ stderr }: CliIo, { json }: { readonly json: boolean }): Progress {
  if (stderr.isTTY !== true || json) return { update: () => {}, end: () => {} };
  let last = Number.NEGATIVE_INFINITY;
  let isShown = false;
  return {
    update: (text) => {
      const now = performance.now();
      if (now - last < EVERY_MS) return;
      last = now;
      isShown = true;
      stderr.write(`${CLEAR_LINE}${text}`);
    },
    end: () => {
      if (isShown) stderr.write(CLEAR_LINE);
      isShown = false;
    },
  };
}
