/** As long as a person counts as being there who did something. The server is not more exact either. */
const PRESENT_MS = 60_000;
const SIGNS = ["pointerdown", "click", "keydown", "input", "wheel"] as const;

/**
 * Whether a person is there: they have opened the page, or done something on it, a moment ago. What the page asks for
 * otherwise, it does by itself: after an event, or because its tab comes to the front.
 */
export function watchPresence(page: EventTarget, now: () => number = () => Date.now()): () => boolean {
  let seenAt = now();
  const see = (): void => {
    seenAt = now();
  };
  for (const sign of SIGNS) page.addEventListener(sign, see, { capture: true, passive: true });
  return () => now() - seenAt < PRESENT_MS;
}
