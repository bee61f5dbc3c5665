import { type ReadonlySignal, signal } from "@preact/signals";
import type { SessionAnswer } from "../../../core/api/session.ts";
import type { Role } from "../../../core/approvers.ts";
import { type Api, type ApiError, asApiError, createApi } from "./api.ts";
import { watchPresence } from "./presence.ts";

export type SessionState =
  | { readonly status: "loading" }
  | { readonly status: "signed-in"; readonly person: SessionAnswer }
  /** `ended`: there was a session, and it is over without the person's doing. */
  | { readonly status: "signed-out"; readonly why: "never" | "left" | "ended" }
  | { readonly status: "failed"; readonly error: ApiError };

const state = signal<SessionState>({ status: "loading" });

/** Who is signed in. */
export const session: ReadonlySignal<SessionState> = state;

/** The server, as whoever is signed in. */
export const api: Api = createApi({
  fetch: (...request) => fetch(...request),
  csrf: () => (state.value.status === "signed-in" ? state.value.person.csrf : undefined),
  onSignedOut: () => {
    const { status } = state.value;
    // Several requests may be told at once: the first one knows whether there was a session.
    if (status !== "signed-out")
      state.value = { status: "signed-out", why: status === "signed-in" ? "ended" : "never" };
  },
  isPresent: watchPresence(globalThis),
});

/** The other tabs of the browser, which have the same cookie: they are told when it is another one. */
const tabs = new BroadcastChannel("intentlock session");
tabs.addEventListener("message", () => void loadSession());

export function hasRole(role: Role): boolean {
  return state.value.status === "signed-in" && state.value.person.roles.includes(role);
}

/** Asks the server who is signed in. Where that cannot be found out, who was signed in before still is. */
export async function loadSession(): Promise<void> {
  try {
    const person: SessionAnswer = await api.get("/v1/session");
    if (!isSame(person)) state.value = { status: "signed-in", person };
  } catch (error) {
    const shown = asApiError(error);
    const isKnown = state.value.status === "signed-in" || state.value.status === "signed-out";
    if (!isKnown && shown.code !== "sign_in_required") state.value = { status: "failed", error: shown };
  }
}

/** Nothing has changed that a page shows or sends: there is no reason to draw it again. */
function isSame({ expiresAt: _, ...person }: SessionAnswer): boolean {
  if (state.value.status !== "signed-in") return false;
  const { expiresAt, ...before } = state.value.person;
  return JSON.stringify(before) === JSON.stringify(person);
}

/** Uses a sign-in link up. @throws ApiError `sign_in_link_invalid` */
export async function signIn(token: string): Promise<void> {
  state.value = { status: "signed-in", person: await api.post("/v1/session", { token }) };
  tabs.postMessage("signed in");
}

/** @throws ApiError if the server did not end the session */
export async function signOut(): Promise<void> {
  await api.delete("/v1/session");
  state.value = { status: "signed-out", why: "left" };
  tabs.postMessage("signed out");
}
