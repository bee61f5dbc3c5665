import { render } from "preact";
import { App } from "./app.tsx";
import { loadSession, session } from "./session.ts";

const root = document.getElementById("app");
if (!root) throw new Error("The page has no place for the app");
render(<App />, root);
if (location.pathname !== "/sign-in") void loadSession();

// Somebody may have signed in or out in another tab meanwhile, or somebody else.
addEventListener("focus", () => {
  if (session.value.status !== "loading") void loadSession();
});
