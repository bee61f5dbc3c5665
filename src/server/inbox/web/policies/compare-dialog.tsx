import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api.ts";
import { NoticeDialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { EmptyState, ErrorState, Loading } from "../parts/states.tsx";
import { Difference } from "./difference.tsx";
import { findPolicy } from "./find-policy.ts";
import { readSide, type Side } from "./view.ts";

export interface CompareDialogProps {
  readonly agentId: string;
  readonly from: Side;
  readonly to: Side;
  /** The highest version. */
  readonly latest: number;
  /** What is in the editor, if it is not what was published. */
  readonly draft: string | undefined;
  readonly onChange: (from: Side, to: Side) => void;
  readonly onClose: () => void;
}

/** What differs between any two versions, or between one and what is in the editor. */
export function CompareDialog(props: CompareDialogProps): JSX.Element {
  const { agentId, from, to, latest, draft, onChange, onClose } = props;
  const sides: readonly Side[] = [
    ...(draft === undefined ? [] : (["editor"] as const)),
    ...Array.from({ length: latest }, (_, index) => latest - index),
  ];
  return (
    <NoticeDialog title="Differences" onClose={onClose}>
      <div class="form-pair compare-sides">
        <SideField label="From" value={from} sides={sides} onChange={(side) => onChange(side, to)} />
        <SideField label="To" value={to} sides={sides} onChange={(side) => onChange(from, side)} />
      </div>
      <Texts key={`${from} ${to}`} agentId={agentId} from={from} to={to} draft={draft} />
    </NoticeDialog>
  );
}

interface SideFieldProps {
  readonly label: string;
  readonly value: Side;
  readonly sides: readonly Side[];
  readonly onChange: (side: Side) => void;
}

function SideField({ label, value, sides, onChange }: SideFieldProps): JSX.Element {
  return (
    <Field label={label}>
      {(control) => (
        <select
          {...control}
          class="select"
          value={String(value)}
          onChange={({ currentTarget }) => onChange(readSide(currentTarget.value) ?? value)}
        >
          {sides.map((side) => (
            <option key={side} value={String(side)}>
              {side === "editor" ? "What is in the editor" : `Version ${side}`}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type Pair = readonly [before: string | undefined, after: string | undefined];

function Texts({ agentId, from, to, draft }: Omit<CompareDialogProps, "latest" | "onChange" | "onClose">): JSX.Element {
  const [pair, setPair] = useState<Pair>();
  const [error, setError] = useState<ApiError>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const read = async (side: Side): Promise<string | undefined> =>
      side === "editor" ? draft : (await findPolicy(agentId, side, leaving.signal))?.text;
    Promise.all([read(from), read(to)]).then(
      (texts) => setPair(texts),
      (refusal: unknown) => !leaving.signal.aborted && setError(asApiError(refusal)),
    );
    return () => leaving.abort();
  }, [round]);
  const retry = (): void => {
    setError(undefined);
    setRound(round + 1);
  };
  if (error) return <ErrorState error={error} onRetry={retry} />;
  if (!pair) return <Loading what="both versions" />;
  const [before, after] = pair;
  if (before === undefined || after === undefined) return <EmptyState icon="policy" title="There is no such version" />;
  return <Difference before={before} after={after} label="Differences" />;
}
