import { readFileSync } from "node:fs";

/** The version in the package's own manifest: it is in a folder above this file, wherever the build has put that. */
export function readPackageVersion(): string {
  for (let folder = new URL(".", import.meta.url), depth = 0; depth < 5; folder = new URL("..", folder), depth++) {
    const { name, version } = readManifest(new URL("package.json", folder));
    if (name === "intentlock" && typeof version === "string") return version;
  }
  return "unknown";
}

function readManifest(file: URL): { readonly name?: unknown; readonly version?: unknown } {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}
