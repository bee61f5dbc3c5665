import { beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import { addPeople, addPerson, addSession, CAROL, createContext, type TestContext } from "../../../test/people.ts";
import type { Role } from "../../core/index.ts";
import type { Caller } from "../handler.ts";
import { toOperator } from "./operator.ts";

let context: TestContext;

beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  return () => context.store.close();
});

async function aPersonWith(...roles: Role[]): Promise<Caller> {
  await addPerson(context.store, CAROL, roles);
  const person = (await context.store.people.get(CAROL))!;
  return { kind: "person", person, session: await addSession(context, CAROL) };
}

describe("who administers", () => {
  test("is an administrator, under their e-mail", async () => {
    expect(toOperator(await aPersonWith("admin"), context).actor).toBe(CAROL);
  });

  test("is nobody else, whatever the routes have let in", async () => {
    const agent = { id: "a", name: "a", settings: {}, policyVersion: 0, createdAt: 0, disabledAt: null };
    const dates = { createdAt: 0, revokedAt: null, lastUsedAt: null };
    const key = { id: "k", agentId: "a", hash: "h", prefix: "p", name: null, owner: ALICE, mayActFor: null, ...dates };
    const callers: Caller[] = [
      await aPersonWith("approver", "member"),
      await aPersonWith(),
      { kind: "agent", agent, apiKey: key },
      { kind: "none" },
    ];
    for (const caller of callers) {
      expect(() => toOperator(caller, context)).toThrow(expect.objectContaining({ code: "forbidden" }));
    }
  });
});
