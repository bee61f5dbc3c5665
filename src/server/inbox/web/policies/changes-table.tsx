import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { PolicyTestRow, VerdictSummary } from "../../../../core/api/policies.ts";
import type { Json } from "../../../../core/json.ts";
import { Badge, type Tone, VerdictBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import { type Change, findChange, isReplayed, sortRows } from "./describe-changes.ts";

export interface ChangesTableProps {
  readonly rows: readonly PolicyTestRow[];
  readonly onlyChanges: boolean;
  /** They are of an earlier text. */
  readonly isOld: boolean;
  /** A decided call is to be tried in other ways. */
  readonly onSample: (row: PolicyTestRow) => void;
}

const FIRST = 20;
const MORE = 200;

/** Each call with what was decided and what would be, those that change first. */
export function ChangesTable({ rows, onlyChanges, isOld, onSample }: ChangesTableProps): JSX.Element | null {
  const [shown, setShown] = useState(FIRST);
  const sorted = useMemo(() => sortRows(rows), [rows]);
  const chosen = onlyChanges ? sorted.filter(({ changed }) => changed) : sorted;
  if (rows.length === 0) return null;
  if (chosen.length === 0) return <p class="dry-run-none card quiet">Nothing changes.</p>;
  const left = chosen.length - shown;
  return (
    <>
      <table class={`table changes ${isOld ? "changes-old" : ""}`}>
        <thead>
          <tr>
            <th>Call</th>
            <th>As it was</th>
            <th>With this text</th>
          </tr>
        </thead>
        <tbody>
          {chosen.slice(0, shown).map((row) => (
            <ChangeRow key={`${row.planId ?? "sample"} ${row.seq ?? row.callId}`} row={row} onSample={onSample} />
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <p class="list-more">
          <Button onClick={() => setShown(shown + MORE)}>Show {Math.min(left, MORE).toLocaleString("en")} more</Button>
        </p>
      )}
    </>
  );
}

interface ChangeRowProps {
  readonly row: PolicyTestRow;
  readonly onSample: (row: PolicyTestRow) => void;
}

function ChangeRow({ row, onSample }: ChangeRowProps): JSX.Element {
  const change = findChange(row);
  return (
    <tr class={`change-${change}`}>
      <td class="change-call">
        <CallHead row={row} />
        {row.args !== undefined && (
          <CallArguments args={row.args as Json} onSample={() => onSample(row)} tool={row.tool} />
        )}
      </td>
      <td data-label="As it was">
        {row.before ? <Summary summary={row.before} /> : <span class="quiet">no policy</span>}
      </td>
      <td data-label="With this text">
        <Summary summary={row.after} />
        <ChangeBadge change={change} />
      </td>
    </tr>
  );
}

function CallHead({ row }: { readonly row: PolicyTestRow }): JSX.Element {
  const { tool, planId, seq, at, user } = row;
  if (!isReplayed(row) || planId === undefined) {
    return (
      <>
        <Text class="code strong" value={tool} /> <Badge tone="neutral">Sample</Badge>
      </>
    );
  }
  return (
    <>
      <a href={`/plans/${encodeURIComponent(planId)}#seq-${seq ?? 0}`}>
        <Text class="code strong" value={tool} />
      </a>
      <div class="quiet change-who">
        {user !== undefined && (
          <>
            for <Text value={user} />
          </>
        )}
        {at !== undefined && (
          <>
            {" · "}
            <Moment at={at} show="relative" />
          </>
        )}
      </div>
    </>
  );
}

interface CallArgumentsProps {
  readonly args: Json;
  readonly tool: string;
  readonly onSample: () => void;
}

function CallArguments({ args, tool, onSample }: CallArgumentsProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="change-args" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Arguments</summary>
      {isOpen && (
        <>
          <JsonView value={args} label={`Arguments of ${tool}`} />
          <Button onClick={onSample}>Try it in other ways</Button>
        </>
      )}
    </details>
  );
}

function Summary({ summary: { verdict, reason, rule } }: { readonly summary: VerdictSummary }): JSX.Element {
  const why = rule ?? reason;
  return (
    <div class="change-verdict">
      <VerdictBadge verdict={verdict} />
      {why !== undefined && <Text class="code quiet" value={why} />}
    </div>
  );
}

const CHANGES: Readonly<Partial<Record<Change, readonly [tone: Tone, words: string]>>> = {
  looser: ["waiting", "Looser"],
  stricter: ["neutral", "Stricter"],
  other: ["neutral", "Other rule"],
};

function ChangeBadge({ change }: { readonly change: Change }): JSX.Element | null {
  const shown = CHANGES[change];
  return shown ? <Badge tone={shown[0]}>{shown[1]}</Badge> : null;
}
