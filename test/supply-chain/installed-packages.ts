import { readFileSync } from "node:fs";
import lock from "../../package-lock.json" with { type: "json" };

/** A package as `package-lock.json` has it. */
interface LockedPackage {
  readonly version?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  /** As the package itself says it. */
  readonly licence: string;
  /** Whether npm runs code of it when it is installed. */
  readonly hasInstallScript: boolean;
}

const packages = new Map<string, LockedPackage>(Object.entries(lock.packages));

/** These packages and all that they need, by name; not what only their own authors need. */
export function listInstalled(names: readonly string[]): InstalledPackage[] {
  const found = new Set<string>();
  const visit = (from: string, name: string): void => {
    const path = resolve(from, name);
    if (found.has(path)) return;
    found.add(path);
    for (const needed of listNeeded(packages.get(path))) visit(path, needed);
  };
  for (const name of names) visit("", name);
  return [...found].map(describe).sort((one, other) => (one.name < other.name ? -1 : 1));
}

function listNeeded({ peerDependencies = {}, peerDependenciesMeta = {}, ...locked }: LockedPackage = {}): string[] {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }), ...peers];
}

/** Where Node looks: in the package's own folder, and then further up. */
function resolve(from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/node_modules/"), 0))) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages.has(path)) return path;
    if (folder === "") throw new Error(`package-lock.json has no ${name}, which ${from || "the package"} needs`);
  }
}

function describe(path: string): InstalledPackage {
  const manifest = JSON.parse(readFileSync(new URL(`../../${path}/package.json`, import.meta.url), "utf8"));
  const { name, version, license: licence } = manifest as Record<string, unknown>;
  const { version: locked, hasInstallScript = false } = packages.get(path) ?? {};
  if (version !== locked) throw new Error(`${path} is ${version}, and not ${locked} as in package-lock.json: npm ci`);
  return { name: String(name), version: String(version), licence: String(licence), hasInstallScript };
}
