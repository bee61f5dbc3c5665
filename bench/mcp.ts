/**
 * What a raw request costs, and what the proxy adds to a call. Run: `npm run bench:mcp`. See README.md.
 */
import { median } from "./check/measure.ts";
import { measureIntercept } from "./mcp/intercept.ts";
import { measureRoundTrips } from "./mcp/round-trip.ts";

const us = (milliseconds: number): string => `${(milliseconds * 1000).toFixed(1).padStart(9)} µs`;

const intercept = await measureIntercept();
console.log("interceptToolCall, a request of 1 KB, plan of 10 steps, policy of 10 rules, audit in memory; one call\n");
console.log(`  JSON.parse and compiled ajv    ${us(median(intercept.bare))}`);
console.log(`  interceptToolCall              ${us(median(intercept.intercept))}   target 80 µs`);
console.log(`  and claimed and settled        ${us(median(intercept.settled))}\n`);

const { direct, proxied } = await measureRoundTrips();
const added = proxied.map((one, index) => one - (direct[index] ?? Number.NaN));
console.log("a tool call over stdio, with the official client and filesystem server\n");
console.log(`  direct                         ${us(median(direct))}`);
console.log(`  through intentlock mcp         ${us(median(proxied))}`);
console.log(`  added                          ${us(median(added))}   target 1000 µs`);
