import type { JSX } from "preact";
import type { Source } from "../../../../core/sources/source.ts";
import { LongText } from "../parts/long-text.tsx";
import { Text } from "../parts/text.tsx";

/** A source as a plan names it. */
export function SourceWords({ source }: { readonly source: Source }): JSX.Element {
  if (source === "task") return <span class="quiet">the user’s words</span>;
  const { step, path } = typeof source === "string" ? { step: source, path: undefined } : source;
  return (
    <>
      <span class="quiet">the results of</span> <Text class="code" value={step} />
      {path !== undefined && <Place path={path} />}
    </>
  );
}

/** Where in a result. */
export function Place({ path }: { readonly path: string }): JSX.Element {
  if (path === "") return <span class="quiet">, as a whole</span>;
  return (
    <>
      <span class="quiet">, at</span> <LongText class="code" lines="mark" first={100} value={path} />
    </>
  );
}
