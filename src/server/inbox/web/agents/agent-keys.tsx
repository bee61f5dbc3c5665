import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AgentAnswer, KeyAnswer, KeysAnswer } from "../../../../core/api/agents.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ListEnd } from "../parts/list-end.tsx";
import { Moment } from "../parts/moment.tsx";
import { EmptyState } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { tell } from "../parts/toast.tsx";
import { useFocusKept } from "../parts/use-focus-kept.ts";
import { useList } from "../parts/use-list.ts";
import { api } from "../session.ts";
import { KeyDialog } from "./key-dialog.tsx";
import { RevokeKeyDialog } from "./revoke-key-dialog.tsx";

/** The keys with which an agent's processes speak to the server. */
export function AgentKeys({ agent }: { readonly agent: AgentAnswer }): JSX.Element {
  const path = `/v1/agents/${encodeURIComponent(agent.agentId)}/keys`;
  const keys = useList<KeyAnswer>(path, async (after, signal) => {
    const { keys: items, ...rest } = await api.get<KeysAnswer>(path, { query: { after }, signal });
    return { items, ...rest };
  });
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<KeyAnswer>();
  const keepFocus = useFocusKept();
  return (
    <section class="section" aria-labelledby="keys">
      <div class="section-head">
        <h2 id="keys">Keys</h2>
        <Button icon="key" onClick={() => setMaking(true)}>
          Make a key
        </Button>
      </div>
      {keys.items?.length === 0 && <EmptyState icon="key" title="It has no key yet" />}
      {keys.items && keys.items.length > 0 && <KeyTable keys={keys.items} onRevoke={setRevoked} />}
      <ListEnd list={keys} what="the keys" />
      {isMaking && <KeyDialog agent={agent} onClose={() => setMaking(false)} onMade={keys.reload} />}
      {revoked && (
        <RevokeKeyDialog
          apiKey={revoked}
          onClose={() => setRevoked(undefined)}
          onDone={() => {
            setRevoked(undefined);
            tell("Revoked the key.", "good");
            keepFocus();
            keys.reload();
          }}
        />
      )}
    </section>
  );
}

interface KeyTableProps {
  readonly keys: readonly KeyAnswer[];
  readonly onRevoke: (key: KeyAnswer) => void;
}

function KeyTable({ keys, onRevoke }: KeyTableProps): JSX.Element {
  return (
    <table class="table table-cards">
      <thead>
        <tr>
          <th>Key</th>
          <th>Owner</th>
          <th>Acts for</th>
          <th>Made</th>
          <th>Last used</th>
          <th>
            <span class="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <KeyRow key={key.keyId} apiKey={key} onRevoke={onRevoke} />
        ))}
      </tbody>
    </table>
  );
}

function KeyRow({ apiKey, onRevoke }: { readonly apiKey: KeyAnswer } & Pick<KeyTableProps, "onRevoke">): JSX.Element {
  const { keyId, name, owner, actsFor, createdAt, lastUsedAt, revokedAt } = apiKey;
  return (
    <tr>
      <td>
        <Text class="strong" value={name ?? "No name"} />
        <div class="quiet">
          <Text class="code" value={keyId} />
        </div>
      </td>
      <td data-label="Owner">
        <Text value={owner} />
      </td>
      <td data-label="Acts for">
        <ActsFor emails={actsFor} />
      </td>
      <td data-label="Made">
        <Moment at={createdAt} show="relative" />
      </td>
      <td data-label="Last used">
        {lastUsedAt === undefined ? <span class="quiet">never</span> : <Moment at={lastUsedAt} show="relative" />}
      </td>
      <td>
        <div class="row-actions">
          {revokedAt === undefined ? (
            <Button kind="danger" aria-label={`Revoke the key ${name ?? keyId}`} onClick={() => onRevoke(apiKey)}>
              Revoke
            </Button>
          ) : (
            <Badge tone="bad" icon="block">
              Revoked
            </Badge>
          )}
        </div>
      </td>
    </tr>
  );
}

const SHOWN = 3;

function ActsFor({ emails }: { readonly emails: readonly string[] | undefined }): JSX.Element {
  if (!emails) return <>everybody</>;
  const more = emails.length - SHOWN;
  if (more <= 0) return <Text value={emails.join(", ")} />;
  return (
    <details>
      <summary>
        <Text value={emails.slice(0, SHOWN).join(", ")} /> and {more.toLocaleString("en")} more
      </summary>
      <Text value={emails.slice(SHOWN).join(", ")} />
    </details>
  );
}
