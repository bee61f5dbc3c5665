import { readFileSync } from "node:fs";
import { join } from "node:path";
import { saveResults } from "../results.ts";
import { causeTables } from "./causes.ts";
import { compareResults } from "./compare.ts";
import type { Corpus } from "./load.ts";
import { comparisonTable, printFindings, printTable, summarise } from "./print.ts";
import { ResultsReplayer } from "./replay-results.ts";
import { resultsTables, scoreResults } from "./score-results.ts";

export interface ResultsFlags {
  readonly plans: string;
  readonly policy: string;
  readonly json: boolean;
  readonly explain: boolean;
  readonly "gate-alone": boolean;
}

/** The independent figures are for these files. */
const COMPARED = { plans: "plans-with-sources.json", policy: "policy-unpinned.yaml" };

/** Replays the recorded runs with what each call gave, under the plans and the policy of two files of the folder. */
export async function runWithResults(
  corpus: Corpus,
  folder: string,
  { plans, policy, json, explain, "gate-alone": gateAlone }: ResultsFlags,
): Promise<void> {
  const replayer = await ResultsReplayer.create(readFileSync(join(folder, policy), "utf8"), { gateAlone });
  const scores = await scoreResults(corpus, replayer);
  await replayer.close();
  const { medianUs, p99Us, decisions } = summarise("check()", replayer.coreUs);
  const comparisons = plans === COMPARED.plans && policy === COMPARED.policy ? compareResults(scores) : [];
  if (json) {
    const { findings, ...rest } = scores;
    const source = { commit: corpus.commit, version: corpus.version, plans, policy, gateAlone };
    console.log(JSON.stringify({ source, ...rest, comparisons, ...(explain && { findings }) }, null, 2));
    return;
  }
  const compared = comparisons.length > 0 ? [comparisonTable(comparisons)] : [];
  const tables = [...resultsTables(scores), ...compared, ...causeTables(scores.findings)];
  console.log(`AgentDojo ${corpus.version} through check() with results, ${plans} under ${policy}`);
  for (const { title, columns, rows } of tables) printTable(title, columns, rows);
  const time = `${medianUs.toFixed(1)} µs and ${p99Us.toFixed(0)} µs`;
  console.log(`\n${decisions} decisions, median and p99: ${time}`);
  saveResults("agentdojo-sources", { tables, figures: { decisions: String(decisions), "check() with results": time } });
  if (explain) printFindings(scores.findings);
}
