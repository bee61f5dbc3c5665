/**
 * What a decision costs, against the least code that could make it. Run: `npm run bench:check`. See README.md.
 *
 *   npm run bench:check -- --before FOLDER     only decisions without sources, beside an older build in the folder
 */
import { parseArgs } from "node:util";
import { compareWithBefore, loadBefore } from "./check/before.ts";
import { type Measurement, median } from "./check/measure.ts";
import { type Measured, printTable, printTargets, ratioOf } from "./check/report.ts";
import {
  everNewNames,
  everyCallAnotherTool,
  manyRules,
  oneTool,
  rulesOfOneTool,
  shortCalls,
} from "./check/scenario.ts";
import { FOUND, indexingOf, NEAR, sourcesRow, UNKNOWN } from "./check/sources.ts";
import { argsOfSize, decisionRow, gateRow, tokenRow } from "./check/subjects.ts";
import { printNs } from "./peers/report.ts";
import { reportResults } from "./results.ts";

const ROUNDS = 5;

type Rows = Readonly<Record<string, Readonly<Record<string, Measurement>>>>;

/** Every measurement is taken once in each round, so that a busy minute of the machine falls on both sides of a ratio. */
async function measureRows(rows: Rows): Promise<Measured> {
  const measured = new Map<string, Map<string, number[]>>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, row] of Object.entries(rows)) {
      const columns = measured.get(name) ?? new Map(Object.keys(row).map((column) => [column, [] as number[]]));
      measured.set(name, columns);
      const inTurn = Object.entries(row);
      for (const [column, measure] of round % 2 === 0 ? inTurn : inTurn.reverse()) {
        columns.set(column, [...(columns.get(column) ?? []), await measure()]);
      }
    }
  }
  return measured;
}

const { values: flags } = parseArgs({ options: { before: { type: "string" }, save: { type: "boolean" } } });
if (flags.before !== undefined) {
  const before = await loadBefore(flags.before);
  const scenarios = {
    "10 rules, first matches": oneTool(manyRules(10, "first"), 1),
    "100 rules, last matches": oneTool(manyRules(100, "last"), 1),
    "100 rules, none matches": oneTool(manyRules(100, "none"), 1),
    "1000 rules, one argument": shortCalls(oneTool(manyRules(1000, "last"), 1)),
    "100 rules, plan of 50 steps": oneTool(manyRules(100, "last"), 50),
    "each call another tool": everyCallAnotherTool(),
    "ever new names": everNewNames(),
  };
  const compared = new Map<string, ReadonlyMap<string, number[]>>();
  for (const [name, scenario] of Object.entries(scenarios)) {
    compared.set(name, await compareWithBefore(scenario, before));
  }
  printTable("check(), before and now", compared, [
    ["fresh, now", "fresh, before"],
    ["frozen, now", "frozen, before"],
  ]);
  process.exit();
}

const decisions = await measureRows({
  "10 rules, first matches": await decisionRow(oneTool(manyRules(10, "first"), 1)),
  "10 rules, last matches": await decisionRow(oneTool(manyRules(10, "last"), 1)),
  "10 rules, none matches": await decisionRow(oneTool(manyRules(10, "none"), 1)),
  "100 rules, first matches": await decisionRow(oneTool(manyRules(100, "first"), 1)),
  "100 rules, last matches": await decisionRow(oneTool(manyRules(100, "last"), 1)),
  "100 rules, none matches": await decisionRow(oneTool(manyRules(100, "none"), 1)),
  "1000 rules, first matches": await decisionRow(oneTool(manyRules(1000, "first"), 1)),
  "1000 rules, last matches": await decisionRow(oneTool(manyRules(1000, "last"), 1)),
  "1000 rules, none matches": await decisionRow(oneTool(manyRules(1000, "none"), 1)),
  "1000 rules, one argument": await decisionRow(shortCalls(oneTool(manyRules(1000, "last"), 1))),
  "100 rules, plan of 10 steps": await decisionRow(oneTool(manyRules(100, "last"), 10)),
  "100 rules, plan of 50 steps": await decisionRow(oneTool(manyRules(100, "last"), 50)),
  "each call another tool": await decisionRow(everyCallAnotherTool()),
  "ever new names": await decisionRow(everNewNames()),
  "1000 rules of one tool": await decisionRow(rulesOfOneTool()),
});
printTable("check(), one decision", decisions, [
  ["frozen", "memo"],
  ["fresh", "memo + copy"],
]);

const tokens = await measureRows({
  "policy of 10 rules": await tokenRow(oneTool(manyRules(10, "last"), 1), 1100),
  "policy of 1000 rules": await tokenRow(oneTool(manyRules(1000, "last"), 1), 130),
});
printTable("openPlanToken()", tokens);

const sources = await measureRows({
  found: await sourcesRow(FOUND, "allow"),
  "unknown values": await sourcesRow(UNKNOWN, "block"),
  "words in another order": await sourcesRow(NEAR, "block"),
});
printTable("three sources, 100 KB", sources);

const indexing = await measureRows({
  "100 KB": { once: indexingOf(100_000) },
  "1 MiB": { once: indexingOf(1_040_000) },
});
printTable("a result taken in", indexing);

const gates = await measureRows({
  "200 B": gateRow(argsOfSize(200, "text")),
  "2 KB": gateRow(argsOfSize(2000, "text")),
  "200 KB, one text": gateRow(argsOfSize(200_000, "text")),
  "200 KB, nested": gateRow(argsOfSize(200_000, "nested")),
});
printTable("LocalGate.check()", gates);

/** The cells of the decisions' table. */
function cell(row: string, column: string): readonly number[] {
  return decisions.get(row)?.get(column) ?? [];
}

const warm = [...decisions.keys()].filter((name) => /rules, (first|last|none)/.test(name));
const worst = (column: string, floor: string, names: readonly string[]) =>
  Math.max(...names.map((name) => ratioOf(cell(name, column), cell(name, floor))));
const matching = warm.filter((name) => !name.endsWith("none matches"));
const blocking = warm.filter((name) => name.endsWith("none matches"));
const spread = (column: string) => {
  const times = matching.map((name) => median(cell(name, column)));
  return Math.max(...times) / Math.min(...times);
};

printTargets([
  {
    name: "check(), frozen arguments / floor with a memo",
    value: worst("frozen", "memo", matching),
    most: 3,
    unit: "x",
  },
  { name: "  no rule matches", value: worst("frozen", "memo", blocking), most: 3, unit: "x" },
  { name: "check(), fresh arguments / floor with a memo", value: worst("fresh", "memo", matching), most: 3, unit: "x" },
  { name: "  no rule matches", value: worst("fresh", "memo", blocking), most: 3, unit: "x" },
  {
    name: "  one argument",
    value: ratioOf(cell("1000 rules, one argument", "fresh"), cell("1000 rules, one argument", "memo")),
    most: 3,
    unit: "x",
  },
  {
    name: "  / floor with a memo and a strict copy",
    value: worst("fresh", "memo + copy", matching),
    most: 3,
    unit: "x",
  },
  { name: "  / floor without a memo", value: worst("fresh", "no memo", matching), most: 3, unit: "x" },
  { name: "check(), slowest / fastest of 10, 100 and 1000 rules", value: spread("fresh"), most: 1.5, unit: "x" },
  {
    name: "check(), each call another tool",
    value: median(cell("each call another tool", "fresh")),
    most: 1000,
    unit: "ns",
  },
  { name: "check(), ever new names", value: median(cell("ever new names", "fresh")), most: 1000, unit: "ns" },
  {
    name: "check(), three sources over 100 KB",
    value: Math.max(...[...sources.values()].flatMap((row) => [...row.values()].map(median))),
    most: 100_000,
    unit: "ns",
  },
  {
    name: "LocalGate.check(), 200 B, audit in memory",
    value: median(gates.get("200 B")?.get("in memory") ?? []),
    most: 20_000,
    unit: "ns",
  },
]);

const frozen = matching.map((name) => median(cell(name, "frozen")));
reportResults("check", {
  tables: [],
  figures: {
    "frozen arguments": `${printNs(Math.min(...frozen))} to ${printNs(Math.max(...frozen))}`,
    "frozen arguments / floor": `${worst("frozen", "memo", matching).toFixed(1)} times`,
    "fresh arguments": printNs(median(matching.map((name) => median(cell(name, "fresh"))))),
    ...Object.fromEntries(
      [...sources].map(([name, row]) => [`three sources, ${name}`, printNs(median(row.get("frozen args") ?? []))]),
    ),
    ...Object.fromEntries(
      [...indexing].map(([size, row]) => [`a result of ${size} taken in`, printNs(median(row.get("once") ?? []))]),
    ),
    "LocalGate, audit in memory": printNs(median(gates.get("200 B")?.get("in memory") ?? [])),
  },
});
