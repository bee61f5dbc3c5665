import { describe, expect, test } from "vitest";
import { BACKGROUND_HEADER, CSRF_HEADER } from "../../../core/api/index.ts";
import { createProblem } from "../../../core/problem.ts";
import { type Api, ApiError, asApiError, createApi, toApiError, writeQuery } from "./api.ts";

interface Asked {
  readonly api: Api;
  readonly requests: readonly { readonly url: string; readonly init: RequestInit }[];
  readonly signedOut: () => number;
}

function anApi(answer: () => Response | Promise<Response>, isPresent = true): Asked {
  const requests: { url: string; init: RequestInit }[] = [];
  let ends = 0;
  const api = createApi({
    fetch: async (url, init = {}) => {
      requests.push({ url: String(url), init });
      return await answer();
    },
    csrf: () => "secret",
    isPresent: () => isPresent,
    onSignedOut: () => {
      ends += 1;
    },
  });
  return { api, requests, signedOut: () => ends };
}

const headersOf = ({ init }: { readonly init: RequestInit }): Headers => new Headers(init.headers);

describe("a request", () => {
  test("that reads has no token, no body and its query", async () => {
    const { api, requests } = anApi(() => Response.json({ a: 1 }));
    await expect(api.get("/v1/inbox", { query: { status: "pending", after: undefined, q: "" } })).resolves.toEqual({
      a: 1,
    });
    expect(requests[0]?.url).toBe("/v1/inbox?status=pending");
    expect(headersOf(requests[0]!).has(CSRF_HEADER)).toBe(false);
    expect(requests[0]?.init).toMatchObject({ method: "GET", credentials: "same-origin", redirect: "error" });
    expect(requests[0]?.init.body).toBeUndefined();
  });

  test.each(["post", "put", "patch", "delete"] as const)(
    "that may change something has the token: %s",
    async (method) => {
      const { api, requests } = anApi(() => new Response(null, { status: 204 }));
      await expect(api[method]("/v1/x", {})).resolves.toBeUndefined();
      expect(headersOf(requests[0]!).get(CSRF_HEADER)).toBe("secret");
      expect(requests[0]?.init.method).toBe(method.toUpperCase());
    },
  );

  test.each([true, false])("says that no person has caused it: when one is there: %s", async (isPresent) => {
    const { api, requests } = anApi(() => new Response(null, { status: 204 }), isPresent);
    await api.get("/v1/inbox");
    await api.post("/v1/x", {});
    for (const request of requests) expect(headersOf(request).has(BACKGROUND_HEADER)).toBe(!isPresent);
  });

  test("escapes its query", () => {
    expect(writeQuery({ q: "a&b=c", n: 0, no: undefined })).toBe("?q=a%26b%3Dc&n=0");
    expect(writeQuery()).toBe("");
  });
});

describe("an answer that is none", () => {
  test("is the server's problem", async () => {
    const issues = [{ path: "text", message: "wrong" }];
    const problem = createProblem("invalid_policy", { detail: "line 3", issues, instance: "r-1" });
    const { api, signedOut } = anApi(() => Response.json(problem, { status: 422 }));
    const error: unknown = await api.post("/v1/x", {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: "invalid_policy",
      status: 422,
      message: problem.title,
      detail: "line 3",
      issues,
    });
    expect(error).toMatchObject({ help: problem.help, instance: "r-1" });
    expect(signedOut()).toBe(0);
  });

  test("ends the session where nobody is signed in, and not where a link is wrong", async () => {
    for (const [code, ends] of [
      ["sign_in_required", 1],
      ["sign_in_link_invalid", 0],
    ] as const) {
      const { api, signedOut } = anApi(() => Response.json(createProblem(code), { status: 401 }));
      await expect(api.get("/v1/x")).rejects.toMatchObject({ code });
      expect(signedOut()).toBe(ends);
    }
  });

  test.each([
    ["a page of a proxy", "<html>Bad gateway</html>", 502],
    ["nothing", "", 500],
    ["null", "null", 500],
    ["another kind of problem", '{"title":"No"}', 400],
    ["a code that is no text", '{"code":1,"title":"No"}', 400],
  ])("is unreadable: %s", (_name, text, status) => {
    expect(toApiError(text, status)).toMatchObject({ code: "unreadable_answer", status, issues: [] });
  });

  test("is unreadable if it was to be JSON", async () => {
    await expect(anApi(() => new Response("<html>")).api.get("/v1/x")).rejects.toMatchObject({
      code: "unreadable_answer",
    });
  });

  test("is that the server cannot be reached", async () => {
    const { api } = anApi(() => Promise.reject(new TypeError("Failed to fetch")));
    await expect(api.get("/v1/x")).rejects.toMatchObject({ code: "unreachable", status: 0 });
  });

  test("is no error of the server if the page did not want it any more", async () => {
    const { api } = anApi(() => Promise.reject(new DOMException("gone", "AbortError")));
    const error: unknown = await api.get("/v1/x", { signal: AbortSignal.abort() }).catch((thrown: unknown) => thrown);
    expect(error).not.toBeInstanceOf(ApiError);
  });

  test("never shows what a mistake in the page says", () => {
    expect(asApiError(new TypeError("x is not a function"))).toMatchObject({ code: "internal" });
    expect(asApiError("text").message).not.toContain("text");
  });
});
