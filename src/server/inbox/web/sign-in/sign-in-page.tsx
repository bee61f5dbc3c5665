import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { SessionAnswer } from "../../../../core/api/session.ts";
import { type ApiError, asApiError } from "../api.ts";
import { pageTitle } from "../page-title.ts";
import { ErrorNote, Loading } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { loadSession, session, signIn } from "../session.ts";
import { Brand } from "../shell.tsx";

/** Uses the token in the address up, or says how to get one. */
export function SignInPage(): JSX.Element {
  const { route } = useLocation();
  const error = useSignal<ApiError | undefined>(undefined);
  const isBusy = useSignal(location.hash.length > 1);
  useEffect(() => {
    pageTitle.value = "Sign in";
    const follow = async (): Promise<void> => {
      if (location.pathname !== "/sign-in") return;
      const token = takeToken();
      isBusy.value = token !== undefined;
      error.value = undefined;
      try {
        await (token === undefined ? loadSession() : signIn(token));
        if (session.value.status === "signed-in") route("/", true);
      } catch (refused) {
        error.value = asApiError(refused);
        // A link that is opened once more, perhaps, by somebody whom it has signed in.
        await loadSession();
      }
      isBusy.value = false;
    };
    void follow();
    // A second link, opened in the same tab.
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return (
    <main class="alone">
      <div class="card sign-in">
        <h1 class="sign-in-title">
          <Brand /> Sign in to Intentlock
        </h1>
        {isBusy.value ? (
          <Loading what="your session" />
        ) : (
          <>
            {error.value && <ErrorNote error={error.value} />}
            {!error.value && <Why />}
            {session.value.status === "signed-in" ? <SignedIn person={session.value.person} /> : <HowTo />}
          </>
        )}
      </div>
    </main>
  );
}

/** The token of the link, which leaves the address bar and the history with this. */
function takeToken(): string | undefined {
  const token = location.hash.slice(1);
  if (token === "") return undefined;
  history.replaceState(null, "", "/sign-in");
  return token;
}

function Why(): JSX.Element | null {
  const state = session.value;
  if (state.status !== "signed-out" || state.why === "never") return null;
  return (
    <p class="note" role="status">
      {state.why === "left" ? "You are signed out." : "Your session has ended. Sign in again to go on where you were."}
    </p>
  );
}

function SignedIn({ person }: { readonly person: SessionAnswer }): JSX.Element {
  return (
    <p>
      You are signed in as <Text value={person.email} />. <a href="/">Go to the inbox</a>
    </p>
  );
}

function HowTo(): JSX.Element {
  return (
    <>
      <p>There are no passwords here. You sign in with a link that works once, for 15 minutes.</p>
      <p>An administrator makes one in the inbox, under People, or on the server's machine:</p>
      <pre class="command">
        <code>npx intentlock user link you@example.com</code>
      </pre>
      <p class="quiet">Open the link in this browser, and you are in.</p>
    </>
  );
}
