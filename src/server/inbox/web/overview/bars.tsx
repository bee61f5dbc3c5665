import type { JSX } from "preact";
import type { OverviewCounts } from "../../../../core/api/history.ts";
import { Text } from "../parts/text.tsx";
import { totalOf, VERDICTS } from "./stack.ts";

export interface Bar extends Partial<OverviewCounts> {
  readonly name: string;
  /** Where one sees what is counted. */
  readonly href: string;
}

export interface BarsProps {
  readonly title: string;
  /** The longest first. */
  readonly bars: readonly Bar[];
  readonly empty: string;
}

const FIRST = 10;
const NOTHING: OverviewCounts = { allow: 0, hold: 0, block: 0 };
const WORDS: Readonly<Record<keyof OverviewCounts, string>> = { allow: "allowed", hold: "held", block: "blocked" };

/** What there was most of, as bars beside their numbers. */
export function Bars({ title, bars, empty }: BarsProps): JSX.Element {
  const most = Math.max(1, ...bars.map((bar) => totalOf({ ...NOTHING, ...bar })));
  return (
    <section class="card bars">
      <h2>{title}</h2>
      {bars.length === 0 && <p class="quiet">{empty}</p>}
      <ol>
        {bars.slice(0, FIRST).map((bar) => (
          <li key={bar.name} class="bar">
            <span class="bar-first">
              <a href={bar.href}>
                <Text class="code" value={bar.name} />
              </a>
              <span class="number">{describe(bar)}</span>
            </span>
            <span class="bar-track" aria-hidden="true">
              {VERDICTS.filter((verdict) => (bar[verdict] ?? 0) > 0).map((verdict) => (
                <span
                  key={verdict}
                  class={`bar-${verdict}`}
                  // Set by script on the element: the page's security policy takes no style in markup.
                  style={{ width: `${(100 * (bar[verdict] ?? 0)) / most}%` }}
                />
              ))}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** `12`, or `12: 9 allowed, 3 blocked` if there is more than one verdict in it. */
function describe(bar: Bar): string {
  const given = VERDICTS.filter((verdict) => (bar[verdict] ?? 0) > 0);
  const all = totalOf({ ...NOTHING, ...bar }).toLocaleString("en");
  if (given.length === 1 && given[0]) return `${all} ${WORDS[given[0]]}`;
  return `${all}: ${given.map((verdict) => `${bar[verdict]?.toLocaleString("en")} ${WORDS[verdict]}`).join(", ")}`;
}
