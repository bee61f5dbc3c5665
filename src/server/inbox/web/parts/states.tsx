import type { ComponentChildren, JSX } from "preact";
import type { ApiError } from "../api.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Text } from "./text.tsx";

export interface EmptyStateProps {
  readonly icon?: IconName;
  readonly title: string;
  /** What can be done about it. */
  readonly children?: ComponentChildren;
}

/** There is nothing here, and why that is. */
export function EmptyState({ icon = "inbox", title, children }: EmptyStateProps): JSX.Element {
  return (
    <div class="state">
      <Icon name={icon} class="state-icon" />
      <p class="state-title">{title}</p>
      {children}
    </div>
  );
}

export interface ErrorStateProps {
  readonly error: ApiError;
  readonly onRetry?: () => void;
}

/** Something was refused or failed: what, and what to do. */
export function ErrorState({ error, onRetry }: ErrorStateProps): JSX.Element {
  return (
    <div class="state state-error" role="alert">
      <Icon name="alert" class="state-icon" />
      <p class="state-title">{error.message}</p>
      <ErrorWords error={error} />
      {onRetry && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** {@link ErrorState} in a form or beside what it is about. */
export function ErrorNote({ error }: { readonly error: ApiError }): JSX.Element {
  return (
    <div class="note note-bad" role="alert">
      <Icon name="alert" />
      <div>
        <strong>{error.message}</strong>
        <ErrorWords error={error} />
      </div>
    </div>
  );
}

function ErrorWords({ error: { detail, help, issues, instance } }: { readonly error: ApiError }): JSX.Element {
  return (
    <>
      {detail !== undefined && (
        <p>
          <Text value={detail} />
        </p>
      )}
      {issues.slice(0, 10).map(({ path, message }) => (
        <p key={path}>
          {path !== "" && <Text class="code" value={`${path}: `} />}
          <Text value={message} />
        </p>
      ))}
      {help !== undefined && (
        <p class="quiet">
          <Text value={help} />
        </p>
      )}
      {instance !== undefined && (
        <p class="quiet">
          Request <Text class="code" value={instance} />
        </p>
      )}
    </>
  );
}

/** Shown from the second third of a second on: what is quick does not flicker. */
export function Loading({ what }: { readonly what: string }): JSX.Element {
  return (
    <div class="state loading" role="status">
      <span class="spinner" />
      <p>Loading {what}…</p>
    </div>
  );
}
