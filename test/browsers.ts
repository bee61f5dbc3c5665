import { pino } from "pino";
import { CSRF_HEADER } from "../src/core/api/index.ts";
import { createSignInLink } from "../src/server/people/sign-in.ts";
import {
  type Answer,
  aCheckBody,
  aHoldPolicy,
  aServer,
  COMMENTS,
  PUBLIC_URL,
  type ServerSetup,
  type ServerUnderTest,
  signedPlan,
} from "./servers.ts";

/** A browser in which somebody is signed in. It sends what a page of the server would. */
export interface Browser {
  readonly csrf: string;
  readonly cookie: string;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** A server whose policy holds comments, with browsers and with holds. */
export interface ServerWithBrowsers extends ServerUnderTest {
  readonly logged: readonly string[];
  /** Signs in by a link: one that the command line has made, unless given one. */
  signIn(email: string, link?: string): Promise<Browser>;
  /** Opens a hold of a comment for alice. @returns its id */
  hold(): Promise<string>;
}

export async function aServerWithBrowsers(setup: ServerSetup = {}): Promise<ServerWithBrowsers> {
  const logged: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => logged.push(line) });
  const one = await aServer({ policy: aHoldPolicy(), log, ...setup });
  const signIn = async (email: string, link?: string): Promise<Browser> => {
    const url = link ?? (await createSignInLink({ ...one.server.context, actor: "cli:root" }, email)).url;
    const body = { token: url.split("#")[1] };
    const answer = await one.ask("POST", "/v1/session", { body, apiKey: null, headers: { origin: PUBLIC_URL } });
    if (answer.status !== 201) throw new Error(`signed in with ${answer.status}`);
    const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    const { csrf } = answer.body;
    const ask: Browser["ask"] = (method, path, sent, headers = {}) => {
      const own = { cookie, [CSRF_HEADER]: csrf, origin: PUBLIC_URL, "sec-fetch-site": "same-origin", ...headers };
      return one.ask(method, path, { apiKey: null, headers: own, ...(sent !== undefined && { body: sent }) });
    };
    return { csrf, cookie, ask };
  };
  const hold = async (): Promise<string> => {
    const plan = await signedPlan(one, COMMENTS);
    const args = { issue: 7, body: "argument-of-a-call" };
    const { body } = await one.ask("POST", "/v1/check", { body: aCheckBody(plan, { tool: "post_comment", args }) });
    const decisionSeq = body.decision.seq;
    return (await one.ask("POST", "/v1/holds", { body: { planId: plan.planId, decisionSeq, args } })).body.holdId;
  };
  return { ...one, signIn, hold, logged };
}
