import { render } from "preact";
import { App } from "./app.tsx";
import { loadSession, session } from "./session.ts";

const root = document.getElementById("app");
if (!root) throw new Error("The page has no place for the app");
render(<App />, root);
if (location.pathname !== "/sign-in") void loadSession();

// Somebody may have signed in in another tab meanwhile.
addEventListener("focus", () => {
  if (session.value.status === "signed-out") void loadSession();
});
