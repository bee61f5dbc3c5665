import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";

/** A server that runs. */
export interface Serving {
  /** Where it listens. */
  readonly url: string;
  /** Where people and agents reach it. */
  readonly publicUrl: string;
  /** Where its store is. */
  readonly store: string;
  /** The first administrator, when the server has started for the first time. */
  readonly admin?: { readonly email: string; readonly link: string; readonly expiresInSeconds: number };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

export function printServing(serving: Serving, { host, paint }: { readonly host: string; paint: Paint }): string {
  const { url, publicUrl, store, admin } = serving;
  const lines = [
    `Intentlock listens at ${paint("bold", printable(url))}`,
    `Inbox: ${printable(publicUrl)}/`,
    `Store: ${printable(store)}`,
  ];
  if (publicUrl !== url) lines.push(`People and agents reach it at ${printable(publicUrl)}`);
  else if (!LOOPBACK.test(host)) {
    lines.push(paint("yellow", "Other machines reach it: put TLS in front, and give its address as --public-url."));
  }
  if (admin) {
    lines.push(
      "",
      `${printable(admin.email)} is the first administrator. This link signs them in, once, within a day:`,
    );
    lines.push(`  ${paint("green", printable(admin.link))}`);
    lines.push(`Another one: intentlock user link ${printable(admin.email)}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}
