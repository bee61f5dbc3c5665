import { type Signal, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export type Shortcut = "next" | "previous" | "approve" | "reject" | "help" | "back";

const KEYS: Readonly<Record<string, Shortcut>> = {
  j: "next",
  k: "previous",
  a: "approve",
  r: "reject",
  "?": "help",
  Escape: "back",
};

const STORED_AS = "intentlock shortcuts";

/** Who dictates or has a tremor can do without keys that act on their own. */
export const areShortcutsOn: Signal<boolean> = signal(localStorage.getItem(STORED_AS) !== "off");

export function turnShortcuts(on: boolean): void {
  areShortcutsOn.value = on;
  if (on) localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, "off");
}

/** What a key asks for, where it is not part of something that is being written or of a dialog. */
export function readShortcut(event: KeyboardEvent): Shortcut | undefined {
  const shortcut = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : undefined;
  if (shortcut === undefined || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  // A key that is held down goes on moving, and decides nothing.
  if (event.repeat && shortcut !== "next" && shortcut !== "previous") return undefined;
  if (event.key !== "Escape" && !areShortcutsOn.value) return undefined;
  return isWriting(event.target) || document.querySelector("dialog[open]") ? undefined : shortcut;
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select"))
  );
}

export function useShortcuts(act: (shortcut: Shortcut) => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const shortcut = readShortcut(event);
      if (shortcut === undefined) return;
      event.preventDefault();
      latest.current(shortcut);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
