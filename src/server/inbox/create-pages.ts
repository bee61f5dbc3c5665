import { CompressedFiles } from "./compress.ts";
import { createPageHeaders } from "./page-headers.ts";
import { type PageFile, readPageFiles } from "./read-page-files.ts";

/** An answer to a browser, and what of its path is logged. */
export interface PageAnswer {
  readonly route: string;
  readonly response: Response;
}

/** Answers what a browser asks that is no endpoint; undefined for what is none of its. */
export type Pages = (request: Request) => Promise<PageAnswer | undefined>;

/** One document is all pages: it reads its path. */
const PAGES: readonly (readonly [route: string, path: RegExp])[] = [
  ["/", /^\/$/],
  ["/sign-in", /^\/sign-in$/],
  ["/decisions", /^\/decisions$/],
  ["/plans/{planId}", /^\/plans\/[\w-]{1,200}$/],
  ["/policies", /^\/policies$/],
  ["/policies/{agentId}", /^\/policies\/[\w-]{1,200}$/],
  ["/agents", /^\/agents$/],
  ["/people", /^\/people$/],
  ["/overview", /^\/overview$/],
];

/** What is built anew has another name. */
const FOR_EVER = "public, max-age=31536000, immutable";

/** The inbox page, read once from the folder that it was built into. */
export function createPages({ folder, publicUrl }: { readonly folder: URL; readonly publicUrl: string }): Pages {
  const files = readPageFiles(folder);
  const headers = createPageHeaders(publicUrl);
  const compressed = new CompressedFiles();

  const answerFile = async (request: Request, file: PageFile, cacheControl: string): Promise<Response> => {
    const { bytes, encoding } = await compressed.get(file, request.headers.get("accept-encoding"));
    const more = { vary: "accept-encoding", ...(encoding && { "content-encoding": encoding }) };
    return new Response(bytes, {
      headers: { ...headers, ...more, "content-type": file.type, "cache-control": cacheControl },
    });
  };
  const answerText = (status: number, { title, text }: { readonly title: string; readonly text: string }): Response =>
    new Response(printPage(title, text), {
      status,
      headers: { ...headers, "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
    });

  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    const { pathname } = new URL(request.url);
    const asset = files?.assets.get(pathname);
    if (asset) return { route: "/assets/{file}", response: await answerFile(request, asset, FOR_EVER) };
    const [route] = PAGES.find(([, path]) => path.test(pathname)) ?? [];
    if (route !== undefined) {
      const response = files ? await answerFile(request, files.index, "no-store") : answerText(503, NOT_BUILT);
      return { route, response };
    }
    if (/^\/(?:v1|\.well-known)(?:\/|$)/.test(pathname) || !acceptsHtml(request)) return undefined;
    return { route: "none", response: answerText(404, NOT_FOUND) };
  };
}

const NOT_BUILT = {
  title: "The inbox was not built",
  text: "Run <code>npm run build:inbox</code> and start the server again. The API works without it.",
};

const NOT_FOUND = { title: "There is no such page", text: '<a href="/">To the inbox</a>' };

function acceptsHtml(request: Request): boolean {
  return request.headers.get("accept")?.toLowerCase().includes("text/html") === true;
}

/** @param text HTML of ours: nothing of a request is in it */
function printPage(title: string, text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
}
