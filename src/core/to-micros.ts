/**
 * An amount in USD micros, exactly: of the decimal number as JSON prints it, and not of the binary one beside it. 1.1 is
 * 1.1, although 1.1 * 1e6 is 1100000.0000000002.
 *
 * @returns undefined for what is no number from 0 on, for what is finer than a micro and for more than 2^53 - 1
 */
export function toMicros(units: unknown, microsPerUnit: number): number | undefined {
  if (typeof units !== "number" || !(units >= 0)) return undefined;
  const product = units * microsPerUnit;
  if (!(product <= Number.MAX_SAFE_INTEGER)) return undefined;
  // Whole numbers below 2^53 are exact. Never -0.
  if (Number.isInteger(units)) return product + 0;
  const [mantissa = "", exponent = "0"] = String(units).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  // At least 1, at most 340: the number has a fraction, and 5e-324 is the smallest there is.
  const scale = 10n ** BigInt(fraction.length - Number(exponent));
  const scaled = BigInt(whole + fraction) * BigInt(microsPerUnit);
  const micros = Number(scaled / scale);
  return scaled % scale === 0n && Number.isSafeInteger(micros) ? micros : undefined;
}
