/**
 * Replays AgentDojo's tasks, attacks and recorded runs through a LocalGate, under plans that were written without
 * seeing any of them. What it counts and what that does not show: docs/agentdojo.md.
 *
 *   npm run bench:agentdojo                      tables
 *   npm run bench:agentdojo -- --explain         and everything that went otherwise than one would wish
 *   npm run bench:agentdojo -- --json            the same as JSON
 *   npm run bench:agentdojo -- --save            and kept for docs/benchmarks.md
 *   npm run bench:agentdojo -- --gate-alone      without the checks of tool names and schemas that a session makes
 *
 *   npm run bench:agentdojo -- --plans plans-with-sources.json --policy policy-unpinned.yaml
 *
 * replays the recorded runs alone, with what each call gave, under plans and a policy that are in the folder of the data.
 *
 * The data is in the folder that INTENTLOCK_AGENTDOJO names, or in ../shared/agentdojo.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { saveResults } from "../results.ts";
import { causeTables } from "./causes.ts";
import { compare } from "./compare.ts";
import { loadCorpus } from "./load.ts";
import { peopleTables } from "./people.ts";
import { printFindings, printScores, printTable, scoreTables, summarise } from "./print.ts";
import { Replayer } from "./replay.ts";
import { runWithResults } from "./run-results.ts";
import { score } from "./score.ts";

const { values: flags } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    explain: { type: "boolean", default: false },
    save: { type: "boolean", default: false },
    "gate-alone": { type: "boolean", default: false },
    plans: { type: "string" },
    policy: { type: "string" },
  },
});
const folder = process.env.INTENTLOCK_AGENTDOJO || join(import.meta.dirname, "../../../shared/agentdojo");
const { plans, policy } = flags;
if ((plans === undefined) !== (policy === undefined))
  throw new Error("give both --plans and --policy, or none of them");
const corpus = loadCorpus(folder, plans === undefined ? {} : { plans, outputs: true });
if (corpus && plans !== undefined && policy !== undefined) {
  await runWithResults(corpus, folder, { ...flags, plans, policy });
} else if (corpus) {
  const { commit, version } = corpus;
  const gateAlone = flags["gate-alone"];
  if (!flags.json) {
    console.log(`AgentDojo ${version} (${commit.slice(0, 12)}) through LocalGate, policy "allow what is in the plan"`);
    if (gateAlone) console.log("the gate alone: no checks of tool names and schemas before it");
  }
  const replayer = await Replayer.create({ gateAlone });
  const { findings, ...scores } = await score(corpus, replayer);
  await replayer.close();
  const comparisons = compare({ ...scores, findings });
  const timings = [
    summarise("LocalGate.check(), with audit entries", replayer.gateUs),
    summarise("check() of core, right after it", replayer.coreUs),
  ];
  if (flags.json) {
    const source = { commit, version, gateAlone };
    console.log(
      JSON.stringify({ source, ...scores, timings, comparisons, ...(flags.explain && { findings }) }, null, 2),
    );
  } else {
    printScores({ ...scores, findings }, { comparisons, timings });
    const people = [...peopleTables(scores.people), ...causeTables(findings)];
    for (const { title, columns, rows } of people) printTable(title, columns, rows);
    const shares = comparisons.map(({ what, here: { count, of } }) => [what, `${count} of ${of}`]);
    const times = timings.map(({ what, medianUs, p99Us }) => [
      what,
      `${medianUs.toFixed(1)} µs and ${p99Us.toFixed(0)} µs`,
    ]);
    saveResults("agentdojo", {
      tables: [...scoreTables({ ...scores, findings }), ...people],
      figures: Object.fromEntries([...shares, ...times, ["decisions", String(timings[0]?.decisions)]]),
    });
    if (flags.explain) printFindings(findings);
  }
} else {
  const skipped = `No AgentDojo data in ${folder}: nothing to replay. Set INTENTLOCK_AGENTDOJO to the folder that has it.`;
  console.log(flags.json ? JSON.stringify({ skipped }) : skipped);
}
