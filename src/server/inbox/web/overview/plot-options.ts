import uPlot from "uplot";
import { describeTick, type Stack, VERDICTS } from "./stack.ts";

export interface PlotSetup {
  readonly width: number;
  readonly height: number;
  readonly stack: Stack;
  /** The length of a part, in milliseconds. */
  readonly partMs: number;
  /** A colour of the style sheet, as it is now: with the scheme it becomes another. */
  readonly colour: (name: string) => string;
  /** The pointer is over this part; undefined: over none. */
  readonly onPoint: (index: number | undefined) => void;
}

const COLOURS = { allow: "--good", hold: "--waiting", block: "--bad" } as const;

/** Bars by verdict that stand on each other, over time. */
export function createPlotOptions({ width, height, stack, partMs, colour, onPoint }: PlotSetup): uPlot.Options {
  const axis = { stroke: () => colour("--ink-quiet"), font: `12px ${colour("--sans")}`, ticks: { show: false } };
  return {
    width,
    height,
    padding: [12, 16, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false } },
    scales: {
      x: { time: true, range: (_plot, min, max) => [min, max + partMs / 1000] },
      y: { range: (_plot, _min, max) => [0, Math.max(4, max * 1.05)] },
    },
    series: [
      {},
      ...VERDICTS.map((verdict, index) => ({
        fill: () => colour(COLOURS[verdict]),
        width: 0,
        points: { show: false },
        paths: createBars(stack, index),
      })),
    ],
    axes: [
      {
        ...axis,
        size: 32,
        space: 64,
        grid: { show: false },
        values: (_plot, splits, _index, _space, step) => splits.map((at) => describeTick(at * 1000, step * 1000)),
      },
      {
        ...axis,
        size: 56,
        grid: { stroke: () => colour("--line"), width: 1 },
        incrs: WHOLE_STEPS,
        values: (_plot, splits) => splits.map((count) => count.toLocaleString("en")),
      },
    ],
    hooks: { setCursor: [(plot) => onPoint(findPart(plot, stack, partMs))] },
  };
}

/** Of calls there are no halves. */
const WHOLE_STEPS = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** A bar of so many pixels can do without one of them. */
const MIN_PIXELS = 4;

/** The bars of one verdict. Where one ends and the next begins is a line of the ground: not all people tell their colours. */
function createBars({ bottoms, tops }: Stack, index: number): uPlot.Series.PathBuilder {
  const bottomsOf = (plot: uPlot): number[] => {
    const pixel = plot.posToVal(0, "y") - plot.posToVal(1, "y");
    return (bottoms[index] ?? []).map((bottom, at) => {
      const isCut = bottom > 0 && (tops[index]?.[at] ?? 0) - bottom > MIN_PIXELS * pixel;
      return isCut ? bottom + pixel : bottom;
    });
  };
  const disp = {
    y0: { unit: 1, values: bottomsOf },
    y1: { unit: 1, values: () => tops[index] ?? [] },
  } as uPlot.Series.BarsPathBuilderDisplay;
  return uPlot.paths.bars!({ size: [0.8, 40], align: 1, gap: 1, disp });
}

function findPart(plot: uPlot, { at }: Stack, partMs: number): number | undefined {
  const { left = -1 } = plot.cursor;
  if (left < 0) return undefined;
  const index = Math.floor(((plot.posToVal(left, "x") - (at[0] ?? 0)) * 1000) / partMs);
  return index >= 0 && index < at.length ? index : undefined;
}
