import { InvalidArgumentError, Option } from "commander";
import { normalizeEmail } from "../core/index.ts";

/** An option that takes a whole number. */
export function numberOption(flags: string, description: string, [least, most]: readonly [number, number]): Option {
  return new Option(flags, description).argParser((text: string): number => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  });
}

/** An option that takes an e-mail address. */
export function emailOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseEmail);
}

/** An option that may be given several times. */
export function listOption(flags: string, description: string, parse: (text: string) => string): Option {
  return new Option(flags, description).argParser((text: string, before: readonly string[] = []): string[] => [
    ...before,
    parse(text),
  ]);
}

/** A parser for {@link listOption} that takes some words only. */
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
