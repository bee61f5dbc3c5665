import type { ButtonHTMLAttributes, ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps extends Omit<ButtonHTMLAttributes, "icon"> {
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly icon?: IconName;
  /** Something is under way: the button does nothing, says so, and keeps the focus, which a disabled one would lose. */
  readonly busy?: boolean;
  /** The key that does the same. */
  readonly shortcut?: string;
  readonly children?: ComponentChildren;
}

export function Button({
  kind = "plain",
  icon,
  busy = false,
  shortcut,
  onClick,
  children,
  class: name = "",
  ...rest
}: ButtonProps): JSX.Element {
  return (
    <button
      type="button"
      {...rest}
      class={`button button-${kind} ${name}`}
      aria-busy={busy}
      aria-disabled={busy || undefined}
      onClick={(event) => (busy ? event.preventDefault() : onClick?.call(event.currentTarget, event))}
      {...(shortcut !== undefined && { "aria-keyshortcuts": shortcut })}
    >
      {busy ? <span class="spinner" /> : icon && <Icon name={icon} />}
      {children}
      {shortcut !== undefined && (
        <span class="shortcut" aria-hidden="true">
          {shortcut}
        </span>
      )}
    </button>
  );
}
