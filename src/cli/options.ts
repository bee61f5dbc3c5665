import { InvalidArgumentError, Option } from "commander";
import { titleSchema } from "../core/api/index.ts";
import { normalizeEmail } from "../core/index.ts";
import { usageError } from "./exit-codes.ts";
import { printable } from "./output/printable.ts";

/** An option that takes a whole number. */
export function numberOption(flags: string, description: string, [least, most]: readonly [number, number]): Option {
  return new Option(flags, description).argParser((text: string): number => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  });
}

/** An option that may be given several times. */
export function listOption(flags: string, description: string, parse: (text: string) => string): Option {
  return new Option(flags, description).argParser((text: string, before: readonly string[] = []): string[] => [
    ...before,
    parse(text),
  ]);
}

const PUBLIC_URL = "where people reach the server (default: INTENTLOCK_PUBLIC_URL, or http://127.0.0.1:4700)";

/** Where people and agents reach the server: it stands in links. */
export function publicUrlOption(description: string = PUBLIC_URL): Option {
  return new Option("--public-url <url>", description).argParser((text: string): string => {
    if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
    throw new InvalidArgumentError("Expected a URL like https://lock.example.com.");
  });
}

/** A parser for options that take some words only. */
export function oneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    if (words.includes(text)) return text;
    throw new InvalidArgumentError(`Expected one of ${words.join(", ")}.`);
  };
}

export function parseEmail(text: string): string {
  const email = normalizeEmail(text);
  if (email === undefined) throw new InvalidArgumentError("Expected an e-mail address.");
  return email;
}

/** A name for people. */
export function parseTitle(text: string): string {
  if (titleSchema.safeParse(text).success && text !== "") return text;
  throw new InvalidArgumentError("Expected a name of at most 100 characters, none of them invisible.");
}

/** An argument that is an e-mail address. @throws CliError `ERR_USAGE` */
export function readEmail(text: string): string {
  const email = normalizeEmail(text);
  if (email === undefined) throw usageError(`${printable(text)} is no e-mail address`);
  return email;
}

/** An argument that is a name for people. @throws CliError `ERR_USAGE` */
export function readTitle(text: string): string {
  if (titleSchema.safeParse(text).success && text !== "") return text;
  throw usageError(`${printable(text)} is no name: expected at most 100 characters, none of them invisible`);
}
