/**
 * Where the worker's code is. In the sources it is the file beside this one, which Node.js runs as it is. In what is
 * built, this module is replaced (by `bundledWorker` of `bundle-worker.ts`) by one with the worker's whole code in a
 * `data:` URL: then there is no second file that a user's bundler, or a chunk in another folder, could lose.
 */
export function workerUrl(): URL {
  return new URL("./worker.ts", import.meta.url);
}
