import { existsSync } from "node:fs";

/** Where a browser may be, as Debian and others have it. */
const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser of the tests: `CHROMIUM_PATH`, or the one of this machine; undefined if there is none. */
export function findChromium(): string | undefined {
  const given = process.env["CHROMIUM_PATH"];
  return given || PATHS.find((path) => existsSync(path));
}
