import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aServer, type ServerUnderTest } from "../../../test/servers.ts";
import { createPages } from "./create-pages.ts";
import { PAGE_POLICY } from "./page-headers.ts";
import { findPageFolder, readPageFiles } from "./read-page-files.ts";

const SCRIPT = `export const text = ${JSON.stringify("intentlock ".repeat(500))};\n`;
const SECRET = "what nobody may read";

let root: string;
let folder: URL;
let one: ServerUnderTest;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "pages-"));
  const built = join(root, "inbox");
  mkdirSync(join(built, "assets", "deep"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), SECRET);
  writeFileSync(join(built, "index.html"), "<!doctype html><title>Inbox</title>");
  writeFileSync(join(built, "notes.md"), SECRET);
  writeFileSync(join(built, "assets", "deep", "hidden.js"), SECRET);
  symlinkSync(join(root, "secret.txt"), join(built, "assets", "link.js"));
  for (const [name, text] of [
    ["index-abc.js", SCRIPT],
    ["index-abc.css", "body{}"],
    ["icon-abc.svg", "<svg/>"],
    ["font-abc.woff2", "font"],
    ["other-abc.bin", "other"],
  ] as const) {
    writeFileSync(join(built, "assets", name), text);
  }
  folder = pathToFileURL(`${built}/`);
  one = await aServer({ inbox: { folder } });
});

afterAll(async () => {
  await one.close();
  rmSync(root, { recursive: true });
});

async function fetchPage(path: string, init: RequestInit = {}): Promise<Response> {
  return await one.server.fetch(new Request(`https://intentlock.test${path}`, init));
}

const FROM_BROWSER = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

describe("the pages", () => {
  test.each([
    "/",
    "/?x=1",
    "/sign-in",
    "/decisions",
    "/plans/plan-1",
    "/policies",
    "/policies/agent-1",
    "/agents",
    "/people",
    "/overview",
  ])("%s is the one document, and is kept by nobody", async (path) => {
    const answer = await fetchPage(path);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.text()).toContain("<title>Inbox</title>");
  });

  test.each([
    ["/assets/index-abc.js", "text/javascript; charset=utf-8"],
    ["/assets/index-abc.css", "text/css; charset=utf-8"],
    ["/assets/icon-abc.svg", "image/svg+xml"],
    ["/assets/font-abc.woff2", "font/woff2"],
    ["/assets/other-abc.bin", "application/octet-stream"],
  ])("%s is of its type, and is kept for ever", async (path, type) => {
    const answer = await fetchPage(path);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test("are asked for their head, too, and for nothing else", async () => {
    for (const path of ["/", "/assets/index-abc.js"]) {
      const head = await fetchPage(path, { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
      for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
        expect((await fetchPage(path, { method })).status).toBe(404);
      }
    }
  });

  test.each([
    ["br", "br", (bytes: Buffer) => brotliDecompressSync(bytes)],
    ["gzip, deflate", "gzip", (bytes: Buffer) => gunzipSync(bytes)],
    ["gzip, deflate, br, zstd", "br", (bytes: Buffer) => brotliDecompressSync(bytes)],
    ["br;q=0, gzip;q=0.5", "gzip", (bytes: Buffer) => gunzipSync(bytes)],
    ["identity", null, (bytes: Buffer) => bytes],
    ["brotli", null, (bytes: Buffer) => bytes],
  ])("are compressed as is taken: %s", async (accepted, encoding, open) => {
    for (let again = 0; again < 2; again += 1) {
      const answer = await fetchPage("/assets/index-abc.js", { headers: { "accept-encoding": accepted } });
      expect(answer.headers.get("content-encoding")).toBe(encoding);
      expect(answer.headers.get("vary")).toBe("accept-encoding");
      expect(open(Buffer.from(await answer.arrayBuffer())).toString()).toBe(SCRIPT);
    }
  });
});

describe("what is no page", () => {
  test.each([
    "/assets/..%2f..%2fsecret.txt",
    "/assets/%2e%2e/%2e%2e/secret.txt",
    "/assets/../../secret.txt",
    "/assets/..\\..\\secret.txt",
    "/assets/..%5c..%5csecret.txt",
    "/assets/%252e%252e%252fsecret.txt",
    "/assets/index-abc.js%00.css",
    "/assets/index-abc.js/",
    "/assets//index-abc.js",
    "//assets/index-abc.js",
    "/assets/deep/hidden.js",
    "/assets/deep%2fhidden.js",
    "/assets/link.js",
    "/assets/",
    "/assets",
    "/assets/__proto__",
    "/assets/constructor",
    "/notes.md",
    "/index.html",
    "/etc/passwd",
    "/%2fetc%2fpasswd",
    "/plans/",
    "/plans/a/b",
    "/plans/<script>",
    "/nothing",
  ])("%s is not there, for browsers in a page and for others as a problem", async (path) => {
    for (const init of [FROM_BROWSER, {}]) {
      const answer = await fetchPage(path, init);
      expect(answer.status).toBe(404);
      const text = await answer.text();
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain("export const");
      const type = init === FROM_BROWSER ? "text/html; charset=utf-8" : "application/problem+json";
      expect(answer.headers.get("content-type")).toBe(type);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("says nothing of the path in its page", async () => {
    const text = await (await fetchPage("/%3Cscript%3Ealert(1)%3C/script%3E?<b>", FROM_BROWSER)).text();
    expect(text).not.toContain("alert");
    expect(text).not.toContain("%3C");
  });

  test.each(["/v1/nothing", "/v1", "/.well-known/nothing", "/v1/inbox"])("%s stays the API's", async (path) => {
    const answer = await fetchPage(path, FROM_BROWSER);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
  });
});

describe("the headers", () => {
  const onPages = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "strict-transport-security": "max-age=31536000",
  };

  test.each(["/", "/assets/index-abc.js", "/nothing"])(
    "of %s keep other pages out and foreign scripts",
    async (path) => {
      const { headers } = await fetchPage(path, FROM_BROWSER);
      expect(Object.fromEntries(headers)).toMatchObject(onPages);
      expect(headers.get("permissions-policy")).toContain("camera=()");
      expect(headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
    },
  );

  test("allow no script or style that stands in the page, and nothing of another host", () => {
    expect(PAGE_POLICY).not.toMatch(/unsafe|https?:|\*/);
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
      expect(PAGE_POLICY.split("; ")).toContain(rule);
    }
  });

  test.each(["/v1/inbox", "/healthz", "/v1/nothing", "/.well-known/jwks.json"])("of %s show nothing", async (path) => {
    const { headers } = await fetchPage(path);
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("ask for TLS only where there is some", async () => {
    const pages = createPages({ folder, publicUrl: "http://127.0.0.1:4700" });
    const answer = await pages(new Request("http://127.0.0.1:4700/"));
    expect(answer?.response.headers.get("strict-transport-security")).toBeNull();
  });
});

describe("a server", () => {
  test("without the built page says how it is built, and its API works", async () => {
    const empty = await aServer({ inbox: { folder: new URL("nothing/", folder) } });
    const page = await empty.server.fetch(new Request("https://intentlock.test/"));
    expect([page.status, page.headers.get("content-security-policy")]).toEqual([503, PAGE_POLICY]);
    expect(await page.text()).toContain("npm run build:inbox");
    expect((await empty.ask("GET", "/healthz")).status).toBe(200);
    expect((await empty.ask("GET", "/assets/index-abc.js")).status).toBe(404);
    await empty.close();
  });

  test("that is to have no page has none", async () => {
    const none = await aServer({ inbox: false });
    for (const path of ["/", "/assets/index-abc.js", "/nothing"]) {
      const answer = await none.ask("GET", path, { headers: FROM_BROWSER.headers });
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    }
    await none.close();
  });

  test("finds its page beside itself when it was built, and in the project when it was not", () => {
    expect(findPageFolder("file:///app/node_modules/intentlock/dist/chunk-ABC.js").href).toBe(
      "file:///app/node_modules/intentlock/dist/inbox/",
    );
    expect(findPageFolder("file:///project/src/server/inbox/read-page-files.ts").href).toBe(
      "file:///project/dist/inbox/",
    );
  });

  test("reads a page of one file, too", () => {
    writeFileSync(join(root, "index.html"), "alone");
    expect(readPageFiles(pathToFileURL(`${root}/`))?.assets.size).toBe(0);
  });
});
