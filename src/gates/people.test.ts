import { describe, expect, test } from "vitest";
import { ALICE } from "../../test/builders.ts";
import type { UserInput } from "./gate.ts";
import { type People, resolveUser, toUser } from "./people.ts";

const NAMED = toUser(ALICE);
const ROLES = ["admin", "approver", "member"];
const KNOWN = { email: ALICE, roles: ["admin"], groups: ["board"] };

describe("a person as an application names them", () => {
  test.each<[string, UserInput, object]>([
    ["an address", ALICE, { email: ALICE, roles: [], groups: [] }],
    ["an address in other letters", "ALICE@Acme.Dev", { email: ALICE, roles: [], groups: [] }],
    ["roles and groups", KNOWN, KNOWN],
    ["every role that there is", { ...KNOWN, roles: [...ROLES] }, { ...KNOWN, roles: ROLES }],
    ["no more than that", { ...KNOWN, admin: true } as UserInput, KNOWN],
  ])("%s", (_name, input, expected) => {
    expect(toUser(input)).toEqual(expected);
  });

  test("is a frozen copy", () => {
    const roles = ["member"];
    const user = toUser({ email: ALICE, roles });
    roles.push("admin");
    expect(user.roles).toEqual(["member"]);
    expect([user, user.roles, user.groups].every(Object.isFrozen)).toBe(true);
  });

  test.each(["", "alice", "a@b@c", "a b@c.d", `${"x".repeat(255)}@a.b`, 5, undefined, ["alice@acme.dev"]])(
    "%j is no address",
    (email) => {
      expect(() => toUser({ email } as UserInput)).toThrow(expect.objectContaining({ code: "ERR_UNKNOWN_USER" }));
    },
  );

  // Spread, the text would be letters that no rule is about, and a rule against interns would not see one.
  test.each([
    { groups: "intern" },
    { roles: "admin" },
    { groups: { 0: "intern", length: 1 } },
    { groups: [["intern"]] },
    { groups: null },
    { roles: [5] },
    { roles: ["boss"] },
    { roles: ["Member"] },
  ])("%j are no roles and groups", (over) => {
    const [field] = Object.keys(over);
    expect(() => toUser({ email: ALICE, ...over } as unknown as UserInput)).toThrow(
      expect.objectContaining({
        code: "ERR_INVALID_OPTIONS",
        message: expect.stringContaining(`user's ${field} have`),
      }),
    );
  });

  test.each([undefined, null, 5, true])("%j is nobody", (input) => {
    expect(() => toUser(input as unknown as UserInput)).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_OPTIONS" }),
    );
  });
});

describe("who somebody is", () => {
  test.each<[string, People | undefined, object]>([
    ["without people: as they were named", undefined, NAMED],
    ["by a list", [{ email: "bob@acme.dev" }, KNOWN], KNOWN],
    ["by a list of addresses", ["bob@acme.dev", "Alice@ACME.dev"], NAMED],
    ["by a list in which others are not well named", ["bob", { email: "carl", groups: "x" as never }, KNOWN], KNOWN],
    ["by asking", (email) => ({ ...KNOWN, email }), KNOWN],
    ["by asking and waiting", async (email) => ({ ...KNOWN, email: email.toUpperCase() }), KNOWN],
  ])("%s", async (_name, people, expected) => {
    expect(await resolveUser(NAMED, people)).toEqual(expected);
  });

  test("what people say counts, not what the request says", async () => {
    const claimed = toUser({ email: ALICE, roles: ["admin"], groups: [] });
    expect(await resolveUser(claimed, [ALICE])).toEqual(NAMED);
  });

  test("is asked with the normalised address", async () => {
    const asked: string[] = [];
    await resolveUser(toUser("ALICE@acme.dev"), (email) => {
      asked.push(email);
      return email;
    });
    expect(asked).toEqual([ALICE]);
  });

  test.each<[string, People, string]>([
    ["an empty list", [], "ERR_UNKNOWN_USER"],
    ["a list of others", ["bob@acme.dev", "alice@acme.dev.evil.example"], "ERR_UNKNOWN_USER"],
    ["nobody", () => undefined, "ERR_UNKNOWN_USER"],
    ["nobody, after a while", async () => undefined, "ERR_UNKNOWN_USER"],
    ["somebody else", () => "bob@acme.dev", "ERR_UNKNOWN_USER"],
    ["somebody without an address", () => "alice", "ERR_UNKNOWN_USER"],
    ["a list with the person twice", [KNOWN, ALICE], "ERR_INVALID_OPTIONS"],
    ["groups that are no list", () => ({ email: ALICE, groups: "x" }) as unknown as UserInput, "ERR_INVALID_OPTIONS"],
  ])("%s is an error", async (_name, people, code) => {
    await expect(resolveUser(NAMED, people)).rejects.toMatchObject({ code });
  });

  test("is an error if asking is one", async () => {
    const people = () => Promise.reject(new Error("directory is down"));
    await expect(resolveUser(NAMED, people)).rejects.toThrow("directory is down");
  });
});
