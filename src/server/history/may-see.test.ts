import { beforeEach, describe, expect, test } from "vitest";
import { ALICE } from "../../../test/builders.ts";
import { addHold, addPeople, addPerson, CAROL, createContext, type TestContext } from "../../../test/people.ts";
import { addPlan, BOB } from "../../../test/store-builders.ts";
import type { Role } from "../../core/index.ts";
import { decideHold } from "../people/decide-hold.ts";
import type { NewHold, Person } from "../store/index.ts";
import { limitToSeen, maySeeStory } from "./may-see.ts";

let context: TestContext;
beforeEach(async () => {
  context = await createContext();
  await addPeople(context.store);
  return () => context.store.close();
});

async function aPerson(email: string, roles: readonly Role[]): Promise<Person> {
  await addPerson(context.store, email, roles);
  return (await context.store.people.get(email))!;
}

const EVE = "eve@acme.dev";

const STORY: [string, string, readonly Role[], Partial<NewHold> | undefined, boolean][] = [
  ["an administrator", EVE, ["admin"], undefined, true],
  ["the person that it was made for", ALICE, ["member"], undefined, true],
  ["the same person without any role", ALICE, [], undefined, true],
  ["the same person in other letters", "ALICE@Acme.dev", ["member"], undefined, true],
  ["a person without roles", EVE, [], undefined, false],
  ["a stranger", EVE, ["member"], undefined, false],
  ["a stranger, of a plan with a hold", EVE, ["member"], {}, false],
  ["a person whose address begins with theirs", `${ALICE}.example`, ["member"], undefined, false],
  ["a person whose address theirs begins with", ALICE.slice(0, -1), ["member"], undefined, false],
  ["a person whose address ends with theirs", `x${ALICE}`, ["member"], undefined, false],
  ["an approver without a hold", CAROL, ["approver"], undefined, false],
  ["an approver with a hold that is for them", CAROL, ["approver"], {}, true],
  ["an approver with a hold that is for others", CAROL, ["approver"], { approvers: { emails: [EVE] } }, false],
  ["an approver by e-mail", EVE, ["member"], { approvers: { emails: ["EVE@acme.dev"] } }, true],
  ["the owner of the agent's key", BOB, ["approver"], {}, false],
];

describe("the story of a plan", () => {
  test.each(STORY)("for %s", async (_who, email, roles, hold, expected) => {
    const person = await aPerson(email, roles);
    const plan = hold ? (await addHold(context.store, hold)).plan : await addPlan(context.store);
    const state = (await context.store.plans.state(plan.id))!;
    expect(await maySeeStory(context, person, state)).toBe(expected);
  });

  test("is still for the approver when it is decided, and for no other who is named then", async () => {
    const { hold, plan } = await addHold(context.store, { approvers: { emails: [CAROL] } });
    await decideHold(context, { email: CAROL }, { holdId: hold.id, decision: "reject" });
    const state = (await context.store.plans.state(plan.id))!;
    expect(await maySeeStory(context, await aPerson(CAROL, ["member"]), state)).toBe(true);
    expect(await maySeeStory(context, await aPerson(EVE, ["approver"]), state)).toBe(false);
  });

  test("of another plan does not open with a hold of this one", async () => {
    const { plan } = await addHold(context.store);
    const other = await addPlan(context.store, { agentId: plan.agentId, apiKeyId: plan.apiKeyId });
    const carol = await aPerson(CAROL, ["approver"]);
    expect(await maySeeStory(context, carol, (await context.store.plans.state(other.id))!)).toBe(false);
  });
});

describe("decisions", () => {
  const user = EVE;
  test.each<[string, readonly Role[], object, object | undefined]>([
    ["an administrator", ["admin"], { tool: "x" }, { tool: "x" }],
    ["an administrator, of one person", ["admin"], { user: ALICE }, { user: ALICE }],
    ["a member", ["member"], { tool: "x" }, { tool: "x", user }],
    ["a member, of their own", ["member"], { user }, { user }],
    ["a member, of another", ["member"], { user: ALICE }, undefined],
    ["an approver, of another", ["approver"], { user: ALICE }, undefined],
    ["a person without roles", [], {}, { user }],
  ])("for %s", async (_who, roles, filter, expected) => {
    expect(limitToSeen(await aPerson(EVE, roles), filter)).toEqual(expected);
  });
});
