import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { FlaggedPlan, FlaggedPlansAnswer, OverviewAnswer } from "../../../../core/api/history.ts";
import { ListEnd } from "../parts/list-end.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import { useList } from "../parts/use-list.ts";
import { PlanStatusBadge } from "../plans/plan-status.tsx";
import { readFlag } from "../plans/read-flag.ts";
import { entryId } from "../plans/use-wanted.ts";
import { api } from "../session.ts";
import type { ChosenOverview } from "./overview-query.ts";

export interface FlaggedPlansProps {
  readonly overview: OverviewAnswer;
  readonly chosen: ChosenOverview;
}

/** Where the figure leads to. */
export const FLAGGED_ID = "flagged-plans";
const PART = 10;

/** The plans that are counted as flagged, each with why and the way to its story. */
export function FlaggedPlans({ overview, chosen: { agentId } }: FlaggedPlansProps): JSX.Element {
  const { from } = overview;
  const list = useList<FlaggedPlan>(`${from} ${agentId ?? ""}`, async (after, signal) => {
    const query = { flagged: true, from, agentId, limit: PART, after };
    const { plans: items, ...rest } = await api.get<FlaggedPlansAnswer>("/v1/plans", { query, signal });
    return { items, ...rest };
  });
  const shown = useRef(overview);
  useEffect(() => {
    if (shown.current !== overview && shown.current.from === from) list.reload();
    shown.current = overview;
  }, [overview]);
  return (
    <section class="card flagged" id={FLAGGED_ID} tabIndex={-1} aria-labelledby="flagged-plans-title">
      <h2 id="flagged-plans-title">Plans that somebody should look at</h2>
      {list.items?.length === 0 && <p class="quiet">There are none any more.</p>}
      {list.items && list.items.length > 0 && (
        <ol class="flagged-list">
          {list.items.map((plan) => (
            <Row key={plan.planId} plan={plan} />
          ))}
        </ol>
      )}
      <ListEnd list={list} what="the plans" />
    </section>
  );
}

function Row({ plan }: { readonly plan: FlaggedPlan }): JSX.Element {
  const { planId, status, agentId, agentName, user, createdAt, flagged } = plan;
  const { words, doubts } = readFlag(flagged);
  const [first, ...rest] = doubts;
  const path = `/plans/${planId}`;
  const timeId = `made-${planId}`;
  return (
    <li class="flagged-row">
      <p class="flagged-first">
        {/* Who hears the links alone hears which is which. */}
        <a href={path} aria-describedby={timeId}>
          <Text class="strong" value={agentName || agentId} /> for <Text class="strong" value={user} />
        </a>
        <PlanStatusBadge status={status} />
        <span class="quiet" id={timeId}>
          made <Moment at={createdAt} />
        </span>
      </p>
      <p>{words}</p>
      {first && (
        <p class="quiet">
          <a href={`${path}#${entryId(first.seq)}`}>Entry {first.seq}</a>: <Text value={first.problem} />
          {rest.length > 0 && `, and ${rest.length} more`}
        </p>
      )}
    </li>
  );
}
