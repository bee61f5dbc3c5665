import { createProblem, type ProblemCode } from "../src/core/api/index.ts";
import type { Fetch } from "../src/gates/remote/server-client.ts";

/** What a server answers, by method and path: a text, JSON, a problem, or something that happens instead. */
export type Script = Readonly<Record<string, (request: Request, asked: number) => Response | Promise<Response>>>;

export interface ScriptedServer {
  readonly fetch: Fetch;
  /** Every request, as method and path. */
  readonly asked: string[];
}

/** A server that answers by a script. `*` is for all that has no line of its own. */
export function aScriptedServer(script: Script): ScriptedServer {
  const asked: string[] = [];
  return {
    asked,
    fetch: async (request) => {
      const line = `${request.method} ${new URL(request.url).pathname}`;
      const before = asked.filter((other) => other === line).length;
      asked.push(line);
      const answer = script[line] ?? script["*"];
      if (!answer) return aProblem("not_found");
      return await answer(request, before);
    },
  };
}

export function aProblem(code: ProblemCode, headers: Record<string, string> = {}): Response {
  const problem = createProblem(code);
  return Response.json(problem, { status: problem.status, headers });
}

/** Never answers, unless it is aborted. */
export function silence(request: Request): Promise<Response> {
  return new Promise((_, reject) => {
    request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
  });
}
