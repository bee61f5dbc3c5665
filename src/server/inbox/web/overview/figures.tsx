import type { ComponentChildren, JSX } from "preact";
import type { OverviewAnswer } from "../../../../core/api/history.ts";
import { writeFilter } from "../decisions/decision-filter.ts";
import { FLAGGED_ID } from "./flagged-plans.tsx";
import { type ChosenOverview, toHistory } from "./overview-query.ts";
import { sumParts, totalOf } from "./stack.ts";

export interface FiguresProps {
  readonly overview: OverviewAnswer;
  readonly chosen: ChosenOverview;
}

/** The sums, each of which leads to what it is of. */
export function Figures({ overview, chosen }: FiguresProps): JSX.Element {
  const sums = sumParts(overview.parts);
  const { pendingHolds, flaggedPlans } = overview;
  const linkTo = (verdict?: "hold" | "block"): string =>
    `/decisions${writeFilter(toHistory(chosen, verdict === undefined ? {} : { verdict }))}`;
  return (
    <dl class="figures">
      <Figure name="Calls" value={totalOf(sums)} href={linkTo()}>
        decided in this time
      </Figure>
      <Figure name="Blocked" value={sums.block} href={linkTo("block")}>
        {shareOf(sums.block, totalOf(sums))}
      </Figure>
      <Figure name="Held" value={sums.hold} href={linkTo("hold")}>
        {shareOf(sums.hold, totalOf(sums))}
      </Figure>
      <Figure name="Waiting now" value={pendingHolds} href="/" tone={pendingHolds > 0 ? "waiting" : undefined}>
        {pendingHolds === 1 ? "hold to decide" : "holds to decide"}
      </Figure>
      <Figure
        name="Flagged plans"
        value={flaggedPlans}
        {...(flaggedPlans > 0 && { href: `#${FLAGGED_ID}`, tone: "bad" })}
      >
        somebody should look at
      </Figure>
    </dl>
  );
}

const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

function shareOf(count: number, all: number): string {
  return all === 0 ? "of none" : `${percent.format(count / all)} of all`;
}

interface FigureProps {
  readonly name: string;
  readonly value: number;
  readonly href?: string;
  readonly tone?: "waiting" | "bad" | undefined;
  readonly children: ComponentChildren;
}

function Figure({ name, value, href, tone, children }: FigureProps): JSX.Element {
  return (
    <div class={`card figure ${tone === undefined ? "" : `figure-${tone}`}`}>
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd class="figure-value">{value.toLocaleString("en")}</dd>
      <dd class="quiet">{children}</dd>
    </div>
  );
}
