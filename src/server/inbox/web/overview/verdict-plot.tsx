import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { OverviewAnswer } from "../../../../core/api/history.ts";
import "uplot/dist/uPlot.min.css";
import { Icon } from "../parts/icon.tsx";
import { createPlotOptions } from "./plot-options.ts";
import { describePart, stackParts, sumParts, VERDICTS } from "./stack.ts";

export interface VerdictPlotProps {
  readonly overview: OverviewAnswer;
}

const HEIGHT = 260;

/** How much was allowed, held and blocked over time. The table that goes with it has the same in numbers. */
export function VerdictPlot({ overview }: VerdictPlotProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const pointed = useSignal<number | undefined>(undefined);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    pointed.value = undefined;
    const stack = stackParts(overview.parts);
    const options = createPlotOptions({
      width: element.clientWidth,
      height: HEIGHT,
      stack,
      partMs: overview.partMs,
      colour: (name) => getComputedStyle(element).getPropertyValue(name),
      onPoint: (index) => {
        pointed.value = index;
      },
    });
    const plot = new uPlot(options, [stack.at, ...stack.tops], element);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => plot.redraw();
    scheme.addEventListener("change", redraw);
    return () => {
      scheme.removeEventListener("change", redraw);
      resize.disconnect();
      plot.destroy();
    };
  }, [overview]);
  const { allow, hold, block } = sumParts(overview.parts);
  const label = `Calls over time: ${allow} allowed, ${hold} held, ${block} blocked. The numbers are in the table below.`;
  return (
    <figure class="plot">
      <Legend overview={overview} pointed={pointed} />
      <div ref={place} class="plot-place" role="img" aria-label={label} />
    </figure>
  );
}

const LEGEND = {
  allow: { words: "allowed", icon: "allow" },
  hold: { words: "held", icon: "hold" },
  block: { words: "blocked", icon: "block" },
} as const;

interface LegendProps extends VerdictPlotProps {
  /** The part under the pointer. */
  readonly pointed: ReadonlySignal<number | undefined>;
}

/** What the colours mean, with the numbers of all parts, or of the one under the pointer. */
function Legend({ overview: { parts, partMs }, pointed }: LegendProps): JSX.Element {
  const part = pointed.value === undefined ? undefined : parts[pointed.value];
  const counts = part ?? sumParts(parts);
  return (
    <figcaption class="plot-legend">
      <span class="plot-when">{part ? describePart(part.at, partMs) : "All of this time"}</span>
      {VERDICTS.map((verdict) => (
        <span key={verdict} class={`plot-verdict plot-${verdict}`}>
          <span class="plot-swatch" />
          <Icon name={LEGEND[verdict].icon} />
          <span>
            <span class="plot-count">{counts[verdict].toLocaleString("en")}</span> {LEGEND[verdict].words}
          </span>
        </span>
      ))}
    </figcaption>
  );
}
