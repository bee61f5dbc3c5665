import { expect, test } from "vitest";
import type { z } from "zod";
import {
  countSchema,
  digestSchema,
  emailSchema,
  fingerprintSchema,
  idSchema,
  normalEmailSchema,
  ruleIdSchema,
  secondsSchema,
  toolNameSchema,
} from "./fields.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

test.each<[string, z.ZodType, readonly unknown[], readonly unknown[]]>([
  ["an id", idSchema, ["a", "x".repeat(200)], ["", "x".repeat(201), 1]],
  ["seconds", secondsSchema, [0, 1_800_000_000], [-1, 0.5, "0", 2 ** 53]],
  ["a digest", digestSchema, [DIGEST], [`x${DIGEST}`, `${DIGEST}0`, DIGEST.toUpperCase(), DIGEST.slice(1), ""]],
  ["an e-mail", emailSchema, ["ann@acme.dev", "Ann@Acme.dev"], ["ann", "a b@acme.dev", "@", 1]],
  ["a normal e-mail", normalEmailSchema, ["ann@acme.dev"], ["Ann@acme.dev", "ann@acme.dev ", "ann", ""]],
  ["a tool's name", toolNameSchema, ["a", "send_money-2", "x".repeat(64)], ["", "a b", "x".repeat(65), "a\n"]],
  ["a rule's id", ruleIdSchema, ["a", "only-public-repo", "x".repeat(64)], ["", "A", "a_b", "-a", "x".repeat(65)]],
  ["a fingerprint", fingerprintSchema, ["", DIGEST, "x".repeat(1000)], ["x".repeat(1001), 1]],
  ["a count", countSchema, [0, 5], [-1, 0.5, "0"]],
])("%s", (_name, schema, taken, refused) => {
  for (const value of taken) expect(schema.safeParse(value).success, String(value)).toBe(true);
  for (const value of refused) expect(schema.safeParse(value).success, String(value)).toBe(false);
});
