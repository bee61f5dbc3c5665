import { styleText } from "node:util";
import { type CliIo, type CliStream, readEnv } from "../io.ts";

/** Puts a text in a colour, or leaves it. */
export type Paint = (style: "red" | "green" | "yellow" | "dim" | "bold", text: string) => string;

/** Colours for a stream: on a terminal only, and not where NO_COLOR is set (no-color.org). */
export function createPaint(io: CliIo, stream: CliStream): Paint {
  const isColoured = stream.isTTY === true && readEnv(io, "NO_COLOR") === undefined && io.env["TERM"] !== "dumb";
  return (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text);
}
