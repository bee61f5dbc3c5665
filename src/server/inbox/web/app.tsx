import type { JSX } from "preact";
import { LocationProvider, useLocation } from "preact-iso";
import { Pages } from "./pages.tsx";
import { ErrorState, Loading } from "./parts/states.tsx";
import { Toasts } from "./parts/toast.tsx";
import { loadSession, session } from "./session.ts";
import { Shell } from "./shell.tsx";
import { SignInPage } from "./sign-in/sign-in-page.tsx";

export function App(): JSX.Element {
  return (
    <LocationProvider>
      <Content />
      <Toasts />
    </LocationProvider>
  );
}

function Content(): JSX.Element {
  const state = session.value;
  const isSignIn = useLocation().path === "/sign-in";
  if (isSignIn || state.status === "signed-out") return <SignInPage />;
  switch (state.status) {
    case "loading":
      return <Loading what="the inbox" />;
    case "failed":
      return (
        <main class="alone">
          <ErrorState error={state.error} onRetry={loadSession} />
        </main>
      );
    case "signed-in":
      return (
        <Shell person={state.person}>
          <Pages />
        </Shell>
      );
    default:
      return state satisfies never;
  }
}
