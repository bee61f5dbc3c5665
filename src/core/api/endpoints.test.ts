import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { samples } from "../../../test/api-samples.ts";
import { PROBLEMS } from "../problem.ts";
import { type AnyEndpoint, endpoints, fillPath, listParameters, problemsOf, readMessage } from "./index.ts";

const all = Object.entries<AnyEndpoint>(endpoints);
const sampleOf = (name: string) => samples[name as keyof typeof samples];

/** Every body, query and answer that the samples have. */
const requests = all.flatMap(([name, { body, query }]) => {
  const sample = sampleOf(name);
  const found: [string, z.ZodType, Readonly<Record<string, unknown>>][] = [];
  if (body && sample.body) found.push([`${name} body`, body, sample.body]);
  if (query && sample.query) found.push([`${name} query`, query, sample.query]);
  return found;
});
const answers = all.flatMap(([name, endpoint]) =>
  Object.entries(sampleOf(name).answers).flatMap(([status, given]) =>
    given.map((answer, index): [string, z.ZodType, Readonly<Record<string, unknown>>] => {
      return [`${name} ${status} answer ${index + 1}`, endpoint.answers[Number(status)] as z.ZodType, answer];
    }),
  ),
);

/** The same value with one key more in one of its objects, each in turn. */
function* withOneMore(value: unknown, key: string): Generator<unknown> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield Object.fromEntries([...Object.entries(value), [key, {}]]);
  for (const [name, item] of Object.entries(value)) {
    for (const other of withOneMore(item, key)) {
      yield Array.isArray(value)
        ? value.with(Number(name), other)
        : Object.fromEntries(Object.entries(value).map(([own, given]) => [own, own === name ? other : given]));
    }
  }
}

/** What anybody may ask of the versioned API. */
const OPEN_PATHS = ["GET /v1/openapi.json", "POST /v1/session"];

describe("the table of endpoints", () => {
  test("has samples of every body, query and answer", () => {
    for (const [name, { body, query, answers }] of all) {
      const sample = sampleOf(name);
      expect([name, sample.body !== undefined, sample.query !== undefined]).toEqual([
        name,
        body !== undefined,
        query !== undefined,
      ]);
      expect(Object.keys(sample.answers)).toEqual(Object.keys(answers));
    }
  });

  test("has each method and path once, whatever the parameters are called", () => {
    const routes = all.map(([, { method, path }]) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`);
    expect(new Set(routes).size).toBe(routes.length);
  });

  test.each(all)("%s is well-formed", (_name, { method, path, summary, auth, body, answers }) => {
    expect(path).toMatch(
      /^\/(?:v1\/|healthz$|readyz$|\.well-known\/)(?:[a-z-]+|[a-z.]+\.json|\{\w+\})?(?:\/(?:[a-z-]+|\{\w+\}))*(?:jwks\.json)?$/,
    );
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(auth.includes("none")).toBe(!path.startsWith("/v1/") || OPEN_PATHS.includes(`${method} ${path}`));
    expect(auth.length === 1 || !auth.includes("none")).toBe(true);
    if (method === "GET" || method === "DELETE") expect(body).toBeUndefined();
    expect(Object.keys(answers).every((status) => /^20[0-2]$/.test(status))).toBe(true);
  });

  test.each(all)("%s names the problems that are to be expected", (_name, endpoint) => {
    const codes = problemsOf(endpoint);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.every((code) => Object.hasOwn(PROBLEMS, code))).toBe(true);
    expect(codes).toEqual(expect.arrayContaining(["internal", "unavailable", "rate_limited"]));
    expect(codes.includes("not_found") || listParameters(endpoint.path).length === 0).toBe(true);
    expect(codes.includes("api_key_rejected")).toBe(endpoint.auth.includes("agent"));
    expect(codes.includes("sign_in_required")).toBe(
      endpoint.auth.some((kind) => kind === "person" || kind === "admin"),
    );
    expect(codes.includes("invalid_request") || (endpoint.method === "GET" && !endpoint.query)).toBe(true);
  });

  test("uses every problem, but the one of paths", () => {
    const used = new Set(all.flatMap(([, endpoint]) => problemsOf(endpoint)));
    expect(Object.keys(PROBLEMS).filter((code) => !used.has(code as "internal"))).toEqual(["method_not_allowed"]);
    expect(problemsOf(endpoints.uploadAudit)).toEqual(
      expect.arrayContaining([
        "audit_gap",
        "audit_fork",
        "audit_rewritten",
        "batch_signature_invalid",
        "entry_invalid",
      ]),
    );
  });

  test("lets nobody but administrators administer, and nobody but people decide", () => {
    const mayOf = (kind: string) => all.filter(([, { auth }]) => auth.includes(kind as "agent")).map(([name]) => name);
    expect(mayOf("agent")).toEqual([
      "signPlan",
      "refreshPlan",
      "revokePlan",
      "getPlan",
      "leasePlan",
      "resumePlan",
      "reserveBudget",
      "check",
      "recordOutcome",
      "openHold",
      "getHold",
      "claimHold",
      "uploadAudit",
      "validatePolicy",
      "testPolicy",
    ]);
    expect(mayOf("person")).toEqual([
      "getPlan",
      "decideHold",
      "listInbox",
      "watchInbox",
      "getInboxItem",
      "listDecisions",
      "exportDecisions",
      "getStory",
      "validatePolicy",
      "getSession",
      "signOut",
    ]);
    expect(mayOf("none")).toEqual(["signIn", "getKeySet", "getApi", "getHealth", "getReadiness"]);
  });

  test("leads every path back to its endpoint", () => {
    expect(fillPath(endpoints.getHold.path, { holdId: "hold-1" })).toBe("/v1/holds/hold-1");
  });
});

describe("a request", () => {
  test.each(requests)("%s is read", (_name, schema, sample) => {
    expect(readMessage(schema, sample)).toMatchObject({ valid: true });
  });

  test.each(requests)("%s is refused with a field that nobody knows, however deep", (name, schema, sample) => {
    // What these hold is anything, as far as the schema goes.
    const { args: _args, plan: _plan, tools: _tools, entries: _entries, ...rest } = sample;
    const open = { args: _args, plan: _plan, tools: _tools, entries: _entries };
    const given = Object.fromEntries(Object.entries(open).filter(([, value]) => value !== undefined));
    for (const key of ["typo", "__proto__"]) {
      let count = 0;
      for (const other of withOneMore(withoutArgs(rest), key)) {
        count++;
        const merged = Object.fromEntries([...Object.entries(other as object), ...Object.entries(given)]);
        expect(readMessage(schema, merged).valid, `${name} ${JSON.stringify(merged)}`).toBe(false);
      }
      expect(count).toBeGreaterThan(0);
    }
  });

  test.each(requests)("%s is refused when it is no object", (_name, schema, sample) => {
    for (const value of [null, undefined, [], [sample], "x", 5, JSON.stringify(sample)]) {
      expect(readMessage(schema, value).valid).toBe(false);
    }
  });

  test.each(requests)("%s is refused with any field null", (_name, schema, sample) => {
    for (const field of Object.keys(sample)) {
      if (field === "args" || field === "plan") continue;
      expect(readMessage(schema, { ...sample, [field]: null }).valid, field).toBe(false);
    }
  });
});

/** Without the arguments of the calls inside, of which any field may be known to somebody. */
function withoutArgs(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, item: unknown) => (key === "args" ? 5 : item));
}

describe("an answer", () => {
  test.each(answers)("%s is read whole", (_name, schema, sample) => {
    expect(readMessage(schema, sample)).toEqual({ valid: true, value: sample });
  });

  test.each(answers)("%s is read without the fields of a later version", (name, schema, sample) => {
    if (name.startsWith("getApi")) return;
    expect(readMessage(schema, { ...sample, later: { x: 1 } })).toEqual({ valid: true, value: sample });
  });

  test.each(answers)("%s is refused when it is no object", (_name, schema, sample) => {
    for (const value of [null, undefined, [], [sample], "x", 5]) expect(readMessage(schema, value).valid).toBe(false);
  });
});
