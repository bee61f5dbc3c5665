import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PoliciesAnswer, PolicyVersion } from "../../../../core/api/policies.ts";
import { asApiError } from "../api.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ListEnd } from "../parts/list-end.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { tell } from "../parts/toast.tsx";
import { useList } from "../parts/use-list.ts";
import { api } from "../session.ts";
import { findPolicy } from "./find-policy.ts";
import type { Publishing } from "./publish-dialog.tsx";
import type { Side } from "./view.ts";

export interface PolicyVersionsProps {
  readonly agentId: string;
  /** Undefined if there is none. */
  readonly current: number | undefined;
  readonly onCompare: (from: Side, to: Side) => void;
  readonly onRollBack: (publishing: Publishing) => void;
}

const PART = 20;

/** Every version that counted, the newest first. */
export function PolicyVersions({ agentId, current, onCompare, onRollBack }: PolicyVersionsProps): JSX.Element {
  const path = `/v1/agents/${encodeURIComponent(agentId)}/policies`;
  const list = useList<PolicyVersion>(path, async (after, signal) => {
    const query = { limit: PART, after };
    const { policies: items, ...rest } = await api.get<PoliciesAnswer>(path, { query, signal });
    return { items, ...rest };
  });
  const [loading, setLoading] = useState<number>();
  useEffect(() => {
    if (list.items && current !== undefined && list.items[0]?.version !== current) list.reload();
  }, [current]);
  const rollBack = async (version: number): Promise<void> => {
    setLoading(version);
    try {
      const policy = await findPolicy(agentId, version);
      if (policy) {
        onRollBack({
          text: policy.text,
          base: current ?? 0,
          comment: `Back to version ${version}`,
          title: `Roll back to version ${version}?`,
        });
      }
    } catch (error) {
      tell(`Version ${version} could not be loaded. ${asApiError(error).message}.`, "bad");
    }
    setLoading(undefined);
  };
  return (
    <section class="section" aria-labelledby="versions">
      <div class="section-head">
        <h2 id="versions">Versions</h2>
      </div>
      {list.items?.length === 0 && <EmptyState icon="policy" title="Nothing has been published yet" />}
      {list.items && list.items.length > 0 && (
        <table class="table table-cards">
          <thead>
            <tr>
              <th>Version</th>
              <th>Published</th>
              <th>By</th>
              <th>Comment</th>
              <th>
                <span class="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {list.items.map((item) => (
              <VersionRow
                key={item.version}
                item={item}
                isCurrent={item.version === current}
                isLoading={loading === item.version}
                onCompare={onCompare}
                onRollBack={() => void rollBack(item.version)}
              />
            ))}
          </tbody>
        </table>
      )}
      <ListEnd list={list} what="the versions" />
    </section>
  );
}

interface VersionRowProps extends Pick<PolicyVersionsProps, "onCompare"> {
  readonly item: PolicyVersion;
  readonly isCurrent: boolean;
  readonly isLoading: boolean;
  readonly onRollBack: () => void;
}

function VersionRow({ item, isCurrent, isLoading, onCompare, onRollBack }: VersionRowProps): JSX.Element {
  const { version, createdAt, createdBy, comment } = item;
  return (
    <tr>
      <td>
        <span class="strong">Version {version}</span> {isCurrent && <Badge tone="good">Counts</Badge>}
      </td>
      <td data-label="Published">
        <Moment at={createdAt} />
      </td>
      <td data-label="By">
        <Text value={createdBy} />
      </td>
      <td class="version-comment" data-label="Comment">
        {comment === undefined ? <span class="quiet">none</span> : <Text value={comment} lines="break" />}
      </td>
      <td>
        <div class="row-actions">
          <Button
            aria-label={`Differences of version ${version}`}
            onClick={() => onCompare(Math.max(version - 1, 1), version)}
          >
            Differences
          </Button>
          {!isCurrent && (
            <Button aria-label={`Roll back to version ${version}`} busy={isLoading} onClick={onRollBack}>
              Roll back…
            </Button>
          )}
        </div>
      </td>
    </tr>
  );
}
