import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file of the built page. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** It gets smaller when it is compressed. */
  readonly isText: boolean;
}

/** The built page: its one document, and what that loads, by the path of the URL. */
export interface PageFiles {
  readonly index: PageFile;
  readonly assets: ReadonlyMap<string, PageFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/**
 * Reads the built page as a whole, so that no path of a request ever leads to a file.
 *
 * @returns undefined if it was not built
 */
export function readPageFiles(folder: URL): PageFiles | undefined {
  const index = readIfThere(new URL("index.html", folder));
  if (!index) return undefined;
  const assets = new Map<string, PageFile>();
  const inAssets = new URL("assets/", folder);
  // Files and no links: whatever one leads to was not built.
  const entries = existsSync(inAssets) ? readdirSync(inAssets, { withFileTypes: true }) : [];
  for (const entry of entries) {
    if (entry.isFile())
      assets.set(`/assets/${entry.name}`, toFile(entry.name, readFileSync(new URL(entry.name, inAssets))));
  }
  return { index: toFile("index.html", index), assets };
}

/** Where the page was built: beside the built server in `dist/`, and seen from the sources in `dist/` of the project. */
export function findPageFolder(base: string = import.meta.url): URL {
  const isSource = fileURLToPath(base).endsWith(".ts");
  return new URL(isSource ? "../../../dist/inbox/" : "./inbox/", base);
}

function readIfThere(file: URL): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function toFile(name: string, read: Buffer): PageFile {
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  return { type, bytes: new Uint8Array(read), isText: /^text\/|json|svg/.test(type) };
}
