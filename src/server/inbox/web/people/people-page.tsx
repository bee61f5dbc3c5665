import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PeopleAnswer, PersonAnswer } from "../../../../core/api/people.ts";
import { Button } from "../parts/button.tsx";
import { ListEnd } from "../parts/list-end.tsx";
import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";
import { tell } from "../parts/toast.tsx";
import { useFocusKept } from "../parts/use-focus-kept.ts";
import { type LoadedList, useList } from "../parts/use-list.ts";
import { api, session } from "../session.ts";
import { AdminAudit } from "./admin-audit.tsx";
import "./people.css";
import { PersonDialog } from "./person-dialog.tsx";
import { PersonRow } from "./person-row.tsx";
import { RemovePersonDialog } from "./remove-person-dialog.tsx";
import { SignInLinkDialog } from "./sign-in-link-dialog.tsx";

/** What is being done, and to whom. */
export type PersonTask =
  | { readonly task: "add" }
  | { readonly task: "change" | "link" | "remove"; readonly person: PersonAnswer };

/** The people that the server knows, and what administrators did. */
export function PeoplePage(): JSX.Element {
  const people = useList("people", async (after, signal) => {
    const { people: items, ...rest } = await api.get<PeopleAnswer>("/v1/people", { query: { after }, signal });
    return { items, ...rest };
  });
  const [task, setTask] = useState<PersonTask>();
  const [round, setRound] = useState(0);
  const keepFocus = useFocusKept();
  const close = (): void => setTask(undefined);
  const done = (words: string): void => {
    close();
    tell(words, "good");
    keepFocus();
    people.reload();
    setRound(round + 1);
  };
  return (
    <Page
      title="People"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setTask({ task: "add" })}>
          Add a person
        </Button>
      }
    >
      <p class="page-lead quiet">
        Agents act for the people here and for nobody else. Approvers and administrators decide holds where a policy’s
        rule names them; administrators also change everything on these pages.
      </p>
      <PeopleTable people={people} onTask={setTask} />
      <ListEnd list={people} what="the people" />
      <AdminAudit round={round} />
      {task && <TaskDialog task={task} onClose={close} onDone={done} onLink={() => setRound(round + 1)} />}
    </Page>
  );
}

interface PeopleTableProps {
  readonly people: LoadedList<PersonAnswer>;
  readonly onTask: (task: PersonTask) => void;
}

function PeopleTable({ people: { items }, onTask }: PeopleTableProps): JSX.Element | null {
  if (!items) return null;
  if (items.length === 0) return <EmptyState icon="people" title="There is nobody yet" />;
  const state = session.value;
  const self = state.status === "signed-in" ? state.person.email : undefined;
  return (
    <table class="table table-cards">
      <thead>
        <tr>
          <th>Person</th>
          <th>Roles</th>
          <th>Groups</th>
          <th>Added</th>
          <th>
            <span class="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((person) => (
          <PersonRow key={person.email} person={person} isSelf={person.email === self} onTask={onTask} />
        ))}
      </tbody>
    </table>
  );
}

interface TaskDialogProps {
  readonly task: PersonTask;
  readonly onClose: () => void;
  readonly onDone: (words: string) => void;
  readonly onLink: () => void;
}

function TaskDialog({ task, onClose, onDone, onLink }: TaskDialogProps): JSX.Element {
  switch (task.task) {
    case "add":
      return <PersonDialog onClose={onClose} onDone={onDone} />;
    case "change":
      return <PersonDialog person={task.person} onClose={onClose} onDone={onDone} />;
    case "link":
      return <SignInLinkDialog person={task.person} onClose={onClose} onMade={onLink} />;
    case "remove":
      return <RemovePersonDialog person={task.person} onClose={onClose} onDone={onDone} />;
    default:
      return task satisfies never;
  }
}
