import type { JSX } from "preact";
import type { DecisionItem } from "../../../../core/api/history.ts";
import { VerdictBadge } from "../parts/badge.tsx";
import { Icon } from "../parts/icon.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import { VerdictCheck } from "../parts/verdict-check.tsx";
import { isWide } from "../parts/window.ts";

export interface DecisionListProps {
  readonly decisions: readonly DecisionItem[];
}

/** Decisions, each of which leads to its place in the story of its plan: rows of a table, and cards on a phone. */
export function DecisionList({ decisions }: DecisionListProps): JSX.Element {
  return isWide.value ? <DecisionTable decisions={decisions} /> : <DecisionCards decisions={decisions} />;
}

function DecisionTable({ decisions }: DecisionListProps): JSX.Element {
  return (
    <table class="table decisions">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Verdict</th>
          <th scope="col">Tool</th>
          <th scope="col">Agent, for whom</th>
          <th scope="col">Why</th>
          <th scope="col">Check</th>
        </tr>
      </thead>
      <tbody>
        {decisions.map((decision) => (
          <tr key={keyOf(decision)} class={classOf(decision)}>
            <td class="decision-time" id={timeId(decision)}>
              <Moment at={decision.receivedAt} show="exact" />
            </td>
            <td>
              <VerdictBadge verdict={decision.verdict} />
            </td>
            <td>
              <Link decision={decision} />
            </td>
            <td>
              <Text value={decision.agentName} />
              <br />
              <Text class="quiet" value={decision.user} />
            </td>
            <td>
              <Why decision={decision} />
            </td>
            <td>
              <VerdictCheck check={decision.verdictCheck} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DecisionCards({ decisions }: DecisionListProps): JSX.Element {
  return (
    <ul class="decision-cards" aria-label="Decisions">
      {decisions.map((decision) => (
        <li key={keyOf(decision)} class={`card ${classOf(decision)}`}>
          <p class="decision-card-first">
            <Link decision={decision} />
            <VerdictBadge verdict={decision.verdict} />
          </p>
          <p>
            <Text value={decision.agentName} /> <span class="quiet">for</span> <Text value={decision.user} />
          </p>
          <p>
            <Why decision={decision} />
          </p>
          <p class="decision-card-last quiet">
            <span id={timeId(decision)}>
              <Moment at={decision.receivedAt} show="exact" />
            </span>
            <VerdictCheck check={decision.verdictCheck} />
          </p>
        </li>
      ))}
    </ul>
  );
}

function keyOf({ planId, seq }: DecisionItem): string {
  return `${planId} ${seq}`;
}

function timeId({ planId, seq }: DecisionItem): string {
  return `time-${planId}-${seq}`;
}

function classOf({ verdictCheck }: DecisionItem): string {
  return `decision ${verdictCheck === "differs" ? "decision-differs" : ""}`;
}

interface DecisionProps {
  readonly decision: DecisionItem;
}

/** Of the whole row. Who hears the links alone hears which is which. */
function Link({ decision }: DecisionProps): JSX.Element {
  const { planId, seq, tool } = decision;
  return (
    <a class="decision-link" href={`/plans/${planId}#seq-${seq}`} aria-describedby={timeId(decision)}>
      {tool === "" ? "(no name)" : <Text class="tool" value={tool} />}
    </a>
  );
}

/** The reason, or the rule that let it through; who approved it. */
function Why({ decision: { reason, rule, approvedBy } }: DecisionProps): JSX.Element {
  const isRule = reason === undefined || reason === rule;
  const name = isRule ? rule : reason;
  return (
    <span class="why">
      {name !== undefined && (
        <span>
          {isRule && <span class="quiet">rule </span>}
          <Text class="code" value={name} />
        </span>
      )}
      {approvedBy !== undefined && (
        <span class="why-approved">
          <Icon name="people" />
          <span>
            approved by <Text value={approvedBy} />
          </span>
        </span>
      )}
    </span>
  );
}
