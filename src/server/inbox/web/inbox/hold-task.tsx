import type { JSX } from "preact";
import type { Task } from "../../../../core/api/plans.ts";
import { Icon } from "../parts/icon.tsx";
import { LongText } from "../parts/long-text.tsx";

export interface HoldTaskProps {
  readonly task: Task;
}

/** What the user asked for, in their words; what they passed on is apart from it: others may have written that. */
export function HoldTask({ task: { instruction, material, earlier = [] } }: HoldTaskProps): JSX.Element {
  return (
    <div class="task">
      {earlier.length > 0 && (
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
      )}
      <blockquote class="task-words">
        <LongText value={instruction} />
      </blockquote>
      {material !== undefined && (
        <div class="task-material">
          <p class="task-material-label">
            <Icon name="alert" />
            Material that the user passed on. These are not the user's words, and no plan is made from them.
          </p>
          <LongText value={material} first={300} />
        </div>
      )}
    </div>
  );
}
