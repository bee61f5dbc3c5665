import { styleText } from "node:util";
import type { Plan, PlanCondition } from "intentlock";

/** One tool call of an act. */
export interface Row {
  readonly tool: string;
  readonly input: unknown;
  readonly verdict: string;
  readonly colour: "green" | "red" | "yellow" | "reset";
  /** Goes below the call. */
  readonly note?: string;
}

const WIDTHS = { step: 2, tool: 19, input: 33 } as const;

/** Prints calls as a table of at most 80 columns. */
export function printTable(rows: readonly Row[]): void {
  console.log(styleText("dim", line({ step: "", tool: "tool", input: "arguments", verdict: "verdict" })));
  for (const [index, { tool, input, verdict, colour, note }] of rows.entries()) {
    const cells = { step: String(index + 1), tool, input: describeInput(input), verdict: styleText(colour, verdict) };
    console.log(line(cells));
    if (note !== undefined) console.log(styleText("dim", `    ${note}`));
  }
}

export function printTitle(title: string): void {
  console.log(`\n${styleText("bold", title)}`);
}

/** Prints the steps of a plan, one a line. */
export function printPlan({ steps }: Plan): void {
  console.log(styleText("dim", "The plan, declared before anything was read, and signed:"));
  for (const { tool, args = {}, maxCalls } of steps) {
    const conditions = Object.entries(args).map(([name, condition]) => `${name} ${describeCondition(condition)}`);
    const limit = maxCalls === undefined ? "" : `${maxCalls}x`;
    console.log(` -  ${tool.padEnd(WIDTHS.tool)} ${limit.padStart(4)}  ${conditions.join(", ")}`);
  }
}

/** Prints a fact with a tick, or with a cross if it is bad news. */
export function printFact(isGood: boolean, fact: string): void {
  console.log(` ${isGood ? styleText("green", "✓") : styleText("red", "✗")} ${fact}`);
}

function line({ step, tool, input, verdict }: Record<"step" | "tool" | "input" | "verdict", string>): string {
  return `${step.padStart(WIDTHS.step)}  ${tool.padEnd(WIDTHS.tool)}  ${input.padEnd(WIDTHS.input)}  ${verdict}`;
}

/** `{ eq: "bug" }` as `= bug`. */
function describeCondition({ eq, in: values, ...rest }: PlanCondition): string {
  if (eq !== undefined) return `= ${eq}`;
  return values ? `in ${values.join("|")}` : JSON.stringify(rest);
}

/** `{ repo: "acme/app", number: 1, label: "bug" }` as `acme/app #1 bug`, cut to its column. */
function describeInput(input: unknown): string {
  const words = Object.entries(input as object).map(([name, value]) => (name === "number" ? `#${value}` : `${value}`));
  const text = words.join(" ");
  return text.length <= WIDTHS.input ? text : `${text.slice(0, WIDTHS.input - 1)}…`;
}
