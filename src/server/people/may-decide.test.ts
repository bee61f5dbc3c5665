import { describe, expect, test } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import { CAROL } from "../../../test/people.ts";
import { BOB, NOW_MS } from "../../../test/store-builders.ts";
import type { Approvers, Role } from "../../core/index.ts";
import type { ApiKey } from "../store/index.ts";
import { findRefusal, listKeyOwners } from "./may-decide.ts";

type Row = [name: string, email: string, roles: readonly Role[], approvers: Approvers, refusal: string | undefined];

/** The agent acts for Alice, with a key of Bob's. */
const rows: readonly Row[] = [
  ["a role that the rule names", CAROL, ["approver"], { roles: ["approver"] }, undefined],
  ["one of several roles", CAROL, ["member", "admin"], { roles: ["approver", "admin"] }, undefined],
  ["an e-mail that the rule names", CAROL, [], { emails: [CAROL] }, undefined],
  ["an e-mail in other letters", CAROL, [], { emails: ["Carol@ACME.dev"] }, undefined],
  ["an e-mail that is composed otherwise", "zo\u00eb@acme.dev", [], { emails: ["zoe\u0308@acme.dev"] }, undefined],
  ["themselves, where the rule says so", ALICE, [], { self: true }, undefined],
  [
    "themselves and a role, where the rule says so",
    ALICE,
    ["approver"],
    { roles: ["approver"], self: true },
    undefined,
  ],

  ["no role", CAROL, [], { roles: ["approver"] }, "not_an_approver"],
  ["another role", CAROL, ["member"], { roles: ["approver"] }, "not_an_approver"],
  [
    "the role of administrators, which the rule does not name",
    CAROL,
    ["admin"],
    { roles: ["approver"] },
    "not_an_approver",
  ],
  [
    "all roles, where the rule names a person",
    CAROL,
    ["admin", "approver", "member"],
    { emails: [ALICE] },
    "not_an_approver",
  ],
  ["self of another person", CAROL, ["admin"], { self: true }, "not_an_approver"],
  ["an e-mail with the Kelvin sign", "kate@acme.dev", [], { emails: ["\u212aate@acme.dev"] }, "not_an_approver"],
  ["an e-mail in other letters than ASCII", "\u00e9@acme.dev", [], { emails: ["\u00c9@acme.dev"] }, "not_an_approver"],
  ["an e-mail that is a part of theirs", "x-carol@acme.dev", [], { emails: [CAROL] }, "not_an_approver"],
  ["an e-mail that is a glob", CAROL, [], { emails: ["*@acme.dev"] }, "not_an_approver"],
  ["a rule that names nobody", CAROL, ["admin"], {}, "not_an_approver"],
  [
    "a rule with a role that is named like a property",
    CAROL,
    [],
    { roles: ["constructor" as Role] },
    "not_an_approver",
  ],

  ["a role, and the agent acts for them", ALICE, ["approver"], { roles: ["approver"] }, "self_approval"],
  ["their e-mail, and the agent acts for them", ALICE, [], { emails: ["ALICE@acme.dev"] }, "self_approval"],
  [
    "a role, the agent acts for them and self is false",
    ALICE,
    ["admin"],
    { roles: ["admin"], self: false },
    "self_approval",
  ],
  ["nothing, and the agent acts for them", ALICE, ["member"], { roles: ["approver"] }, "not_an_approver"],

  ["a role, and the key is theirs", BOB, ["approver"], { roles: ["approver"] }, "key_owner_approval"],
  ["their e-mail, and the key is theirs", BOB, ["admin"], { emails: [BOB] }, "key_owner_approval"],
];

describe("who may decide", () => {
  test.each(rows)("with %s", (_name, email, roles, approvers, refusal) => {
    expect(findRefusal({ email, roles }, { approvers, userEmail: ALICE, keyOwners: [BOB] })).toBe(refusal);
  });

  test("is never the key's owner, also where the rule says self", () => {
    const held = { approvers: { self: true }, userEmail: ALICE, keyOwners: [ALICE] };
    expect(findRefusal({ email: ALICE, roles: [] }, held)).toBe("key_owner_approval");
  });
});

describe("the owners of keys", () => {
  const key = (id: string, owner: string, revokedAt: number | null = null): ApiKey => {
    const dates = { createdAt: 0, revokedAt, lastUsedAt: null };
    return { id, agentId: "agent", hash: id, prefix: "ilk_", name: null, owner, mayActFor: null, ...dates };
  };

  test("are all whose key can have been used under the plan", () => {
    const keys = [key("1", BOB), key("2", CAROL), key("3", ALICE, NOW_MS - 1), key("4", "dora@acme.dev", NOW_MS + 1)];
    const owners = listKeyOwners(keys, { apiKeyId: "1", createdAt: NOW_MS });
    expect(owners).toEqual([BOB, CAROL, "dora@acme.dev"]);
  });

  test("have the one of the plan's own key among them, whatever became of it", () => {
    expect(listKeyOwners([key("1", BOB, NOW_MS - 1)], { apiKeyId: "1", createdAt: NOW_MS })).toEqual([BOB]);
  });
});
