import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { AdminAuditAnswer, AdminAuditItem } from "../../../../core/api/admin-audit.ts";
import { JsonView } from "../parts/json-view.tsx";
import { ListEnd } from "../parts/list-end.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { useList } from "../parts/use-list.ts";
import { api } from "../session.ts";
import { describeAction } from "./describe-action.ts";

const PART = 25;

/** What administrators and approvers did. `round` counts what was done on this page. */
export function AdminAudit({ round }: { readonly round: number }): JSX.Element {
  const list = useList<AdminAuditItem>("audit", async (after, signal) => {
    const query = { limit: PART, after };
    const { entries: items, ...rest } = await api.get<AdminAuditAnswer>("/v1/admin-audit", { query, signal });
    return { items, ...rest };
  });
  useEffect(() => {
    if (round > 0) list.reload();
  }, [round]);
  return (
    <section class="section" aria-labelledby="admin-audit">
      <div class="section-head">
        <h2 id="admin-audit">What administrators did</h2>
      </div>
      {list.items?.length === 0 && <EmptyState icon="list" title="Nothing has been done yet" />}
      {list.items && list.items.length > 0 && (
        <ol class="admin-audit card">
          {list.items.map((item) => (
            <AuditRow key={item.seq} item={item} />
          ))}
        </ol>
      )}
      <ListEnd list={list} what="what administrators did" />
    </section>
  );
}

function AuditRow({ item: { at, actor, action, target, details } }: { readonly item: AdminAuditItem }): JSX.Element {
  const hasDetails = Object.keys(details).length > 0;
  return (
    <li class="admin-audit-row">
      <div class="admin-audit-words">
        <span>
          <Text class="strong" value={actor} /> <Text value={describeAction(action)} />{" "}
          <Target action={action} target={target} name={details["name"]} />
        </span>
        <span class="quiet">
          <Moment at={at} />
        </span>
      </div>
      {hasDetails && (
        <details class="admin-audit-details">
          <summary>
            Details <span class="sr-only">of {action}</span>
          </summary>
          <JsonView value={details} label="Details" />
        </details>
      )}
    </li>
  );
}

interface TargetProps extends Pick<AdminAuditItem, "action" | "target"> {
  /** What it was called then, if it has a name. */
  readonly name: unknown;
}

function Target({ action, target, name }: TargetProps): JSX.Element {
  const words = (
    <>
      {typeof name === "string" && (
        <>
          <Text value={name} />{" "}
        </>
      )}
      <Text class="code" value={target} />
    </>
  );
  const isAgent = action.startsWith("agent.") || action === "policy.push";
  return isAgent ? <a href={`/agents?agent=${encodeURIComponent(target)}`}>{words}</a> : words;
}
