/**
 * What opening a plan token takes, beside jose alone and node:crypto alone. Run: `npm run bench:tokens`, with `-- --save`
 * for docs/benchmarks.md. See README.md.
 */
import { createPublicKey, verify } from "node:crypto";
import { compactVerify } from "jose";
import { median } from "./check/measure.ts";
import { ratioOf } from "./check/report.ts";
import { KEY, manyRules, oneTool, openToken, tokenSigner } from "./check/scenario.ts";
import { type Sample, type Timed, takeSample } from "./peers/measure.ts";
import { printNs } from "./peers/report.ts";
import { reportResults, type Table } from "./results.ts";

const ROUNDS = 9;
/** More than are remembered of each: when the first one comes again, it is forgotten. */
const TOKENS = { 10: 1100, 1000: 130 } as const;

type Column = "cold" | "cached" | "jose" | "node:crypto";

async function makeSubjects(rules: 10 | 1000): Promise<Record<Column, Timed>> {
  const tokens = await Promise.all(
    Array.from({ length: TOKENS[rules] }, tokenSigner(oneTool(manyRules(rules, "last"), 1))),
  );
  const key = { ...KEY.publicKey, alg: "EdDSA" };
  const keyObject = createPublicKey({ key: { ...KEY.publicKey }, format: "jwk" });
  let n = 0;
  const next = () => tokens[n++ % tokens.length] as string;
  return {
    cold: { make: next, run: openToken },
    cached: { make: () => tokens[0] as string, run: openToken },
    // Verified and parsed, with the key read once: no look at the key's id, at types or at claims.
    jose: {
      make: next,
      run: async (token: string) => {
        const { payload } = await compactVerify(token, key, { algorithms: ["EdDSA"] });
        return JSON.parse(new TextDecoder().decode(payload)) as unknown;
      },
    },
    "node:crypto": {
      make: next,
      run: (token: string) => {
        const dot = token.lastIndexOf(".");
        const signature = Buffer.from(token.slice(dot + 1), "base64url");
        if (!verify(null, Buffer.from(token.slice(0, dot)), keyObject, signature)) throw new Error("not signed");
        return JSON.parse(Buffer.from(token.slice(token.indexOf(".") + 1, dot), "base64url").toString()) as unknown;
      },
    },
  };
}

async function measureRow(rules: 10 | 1000): Promise<Table["rows"]> {
  const subjects = Object.entries(await makeSubjects(rules)) as [Column, Timed][];
  const samples: Record<Column, Sample[]> = { cold: [], cached: [], jose: [], "node:crypto": [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [column, subject] of subjects) samples[column].push(await takeSample(subject));
  }
  const times = (column: Column) => samples[column].map(({ medianNs }) => medianNs);
  return subjects.map(([column]) => [
    `${rules} rules, ${column === "cold" || column === "cached" ? `openPlanToken, ${column}` : column}`,
    printNs(median(times(column))),
    printNs(median(samples[column].map(({ p99Ns }) => p99Ns))),
    `${ratioOf(times(column), times("node:crypto")).toPrecision(2)} x`,
  ]);
}

const rows = [...(await measureRow(10)), ...(await measureRow(1000))];
reportResults("tokens", {
  tables: [{ title: "one token", columns: ["median", "p99", "node:crypto alone"], rows }],
  figures: {},
});
