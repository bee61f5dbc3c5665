/**
 * Intentlock: an agent declares a plan before it reads anything, the plan is signed, and every tool call is checked
 * against it. The root has core, gates and sessions; the adapters are at `intentlock/vercel-ai` and its neighbours.
 *
 * @module
 */
export * from "./core/index.ts";
export * from "./gates/index.ts";
export * from "./session/index.ts";
