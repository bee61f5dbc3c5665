import { gzipSync } from "node:zlib";

/** What a build made of a script, as far as its size matters. */
export interface BuiltScript {
  readonly type: "chunk";
  readonly fileName: string;
  readonly code: string;
  readonly isEntry: boolean;
  /** The names of the scripts that are loaded with it; not of those that are loaded when they are needed. */
  readonly imports: readonly string[];
}

export type Bundle = Readonly<Record<string, BuiltScript | { readonly type: "asset" }>>;

/** The compressed size of all scripts that the first page has to load, in bytes. */
export function measureFirstPage(bundle: Bundle): number {
  const scripts = Object.values(bundle).filter((one) => one.type === "chunk");
  const needed = new Set(scripts.filter(({ isEntry }) => isEntry));
  for (const { imports } of needed) {
    for (const script of scripts) if (imports.includes(script.fileName)) needed.add(script);
  }
  return [...needed].reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
}

export interface FirstPagePlugin {
  readonly name: string;
  generateBundle(options: unknown, bundle: Bundle): void;
}

/** Fails a build of Vite whose first page is heavier than it may be, and says how heavy it is. */
export function limitFirstPage(maxBytes: number): FirstPagePlugin {
  return {
    name: "limit-first-page",
    generateBundle(_options, bundle) {
      const bytes = measureFirstPage(bundle);
      const words = `the inbox's first page: ${kilobytes(bytes)} of compressed scripts, of ${kilobytes(maxBytes)}`;
      if (bytes > maxBytes) throw new Error(`${words}. Load what it does not need at once with import().`);
      console.log(words);
    },
  };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`;
}
