import type { JSX } from "preact";
import type { PersonAnswer } from "../../../../core/api/people.ts";
import type { Role } from "../../../../core/approvers.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import type { IconName } from "../parts/icon.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import type { PersonTask } from "./people-page.tsx";

const ICONS: Readonly<Record<Role, IconName>> = { admin: "policy", approver: "check", member: "people" };
const NAMES: Readonly<Record<Role, string>> = { admin: "Administrator", approver: "Approver", member: "Member" };

export interface PersonRowProps {
  readonly person: PersonAnswer;
  readonly isSelf: boolean;
  readonly onTask: (task: PersonTask) => void;
}

export function PersonRow({ person, isSelf, onTask }: PersonRowProps): JSX.Element {
  const { email, name, roles, groups, createdAt } = person;
  return (
    <tr>
      <td>
        <Text class="strong" value={email} /> {isSelf && <span class="quiet">(you)</span>}
        {name !== undefined && (
          <div class="quiet">
            <Text value={name} />
          </div>
        )}
      </td>
      <td data-label="Roles">
        <span class="badges">
          {roles.length === 0 && <span class="quiet">none</span>}
          {roles.map((role) => (
            <Badge key={role} tone="neutral" icon={ICONS[role]}>
              {NAMES[role]}
            </Badge>
          ))}
        </span>
      </td>
      <td data-label="Groups">
        {groups.length === 0 ? <span class="quiet">none</span> : <Text value={groups.join(", ")} />}
      </td>
      <td data-label="Added">
        <Moment at={createdAt} show="relative" />
      </td>
      <td>
        <div class="row-actions">
          <Button aria-label={`Change ${email}`} onClick={() => onTask({ task: "change", person })}>
            Change
          </Button>
          <Button aria-label={`Sign-in link for ${email}`} onClick={() => onTask({ task: "link", person })}>
            Sign-in link
          </Button>
          <Button kind="danger" aria-label={`Remove ${email}`} onClick={() => onTask({ task: "remove", person })}>
            Remove
          </Button>
        </div>
      </td>
    </tr>
  );
}
