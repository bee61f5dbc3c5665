import type { JSX } from "preact";
import type { Task } from "../../../../core/api/plans.ts";
import { Icon } from "../parts/icon.tsx";
import { LongText } from "../parts/long-text.tsx";

export interface HoldTaskProps {
  readonly task: Task;
}

/** What the user asked for, in their words, with all that came with it. */
export function HoldTask({ task }: HoldTaskProps): JSX.Element {
  return (
    <div class="task">
      <Earlier task={task} />
      <TaskWords task={task} />
      <Material task={task} />
    </div>
  );
}

export function TaskWords({ task }: HoldTaskProps): JSX.Element {
  return (
    <blockquote class="task-words">
      <LongText value={task.instruction} first={400} />
    </blockquote>
  );
}

/** What came with the user's words. */
export function TaskContext({ task }: HoldTaskProps): JSX.Element {
  return (
    <div class="task">
      <Earlier task={task} />
      <Material task={task} />
    </div>
  );
}

export function hasContext({ earlier = [], material }: Task): boolean {
  return earlier.length > 0 || material !== undefined;
}

function Earlier({ task: { earlier = [] } }: HoldTaskProps): JSX.Element | null {
  if (earlier.length === 0) return null;
  return (
    <details class="task-earlier">
      <summary>
        {earlier.length === 1 ? "One earlier message" : `${earlier.length} earlier messages`} of the same user
      </summary>
      <ol>
        {earlier.map((message, index) => (
          <li key={index}>
            <blockquote class="task-words">
              <LongText value={message} first={200} />
            </blockquote>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Apart from the user's words, and never to be taken for them: others may have written it. */
function Material({ task: { material } }: HoldTaskProps): JSX.Element | null {
  if (material === undefined) return null;
  return (
    <div class="task-material">
      <p class="task-material-label">
        <Icon name="alert" />
        Material that the user passed on. These are not the user's words, and no plan is made from them.
      </p>
      <LongText value={material} first={300} />
    </div>
  );
}
