import { globSync, readFileSync } from "node:fs";
import manifest from "../../package.json" with { type: "json" };
import { type InstalledPackage, listInstalled } from "./installed-packages.ts";

/** Licences that ask for no more than their own text. */
export const LICENCES: readonly string[] = [
  "MIT",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "0BSD",
  "BlueOak-1.0.0",
];

/** What an installation of Intentlock has, frameworks aside: those are the application's. */
export function listRuntime(): InstalledPackage[] {
  return listInstalled(Object.keys(manifest.dependencies));
}

/** What the scripts of the inbox page have in them, which are built before they are published. */
export function listBundled(): InstalledPackage[] {
  const web = new URL("../../src/server/inbox/web/", import.meta.url);
  const files = globSync("**/*.{ts,tsx}", { cwd: web }).filter((file) => !file.includes(".test."));
  const imports = files.flatMap((file) =>
    [...readFileSync(new URL(file, web), "utf8").matchAll(/(?:^import| from) "([^".][^"]*)";$/gm)].map(
      ([, name = ""]) => name.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? "",
    ),
  );
  return listInstalled([...new Set(imports)].filter((name) => name !== manifest.name));
}

/** The tables of `docs/supply-chain.md`. */
export function printLicences(): string {
  const table = (packages: readonly InstalledPackage[]): string => {
    const rows = packages.map(({ name, version, licence }) => `| \`${name}\` | ${version} | ${licence} |`);
    return ["| package | version | licence |", "|---|---|---|", ...rows].join("\n");
  };
  const [runtime, bundled] = [listRuntime(), listBundled()];
  const direct = new Set(Object.keys(manifest.dependencies));
  const own = runtime.filter(({ name }) => direct.has(name));
  const others = runtime.filter(({ name }) => !direct.has(name));
  return [
    `Direct dependencies (${own.length}):`,
    table(own),
    `What these need (${others.length}):`,
    table(others),
    `What the inbox page is built of (${bundled.length}); the licence texts of what is in its scripts are in the package, in \`dist/inbox/third-party-licenses.md\`:`,
    table(bundled),
  ].join("\n\n");
}
