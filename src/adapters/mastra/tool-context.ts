/** What Mastra hands to `execute` beside the arguments, in one of its shapes. */
export interface ToolContext extends Suspendable {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal;
  readonly requestContext?: unknown;
  /** Of an agent or a workflow that is a tool, and that has been suspended. */
  readonly suspendedToolRunId?: unknown;
  agent?: Suspendable & { readonly toolCallId?: string };
  workflow?: Suspendable & { readonly runId?: string };
}

export interface Suspendable {
  suspend?: (...parts: unknown[]) => unknown;
  resumeData?: unknown;
}

/** Thrown in place of what a tool gives that has suspended its call. */
export class Suspension {
  readonly finish: () => unknown;

  constructor(finish: () => unknown) {
    this.finish = finish;
  }
}

export function isSuspension(thrown: unknown): thrown is Suspension {
  return thrown instanceof Suspension;
}

/** Whether Mastra says that a call goes on that was suspended, be it because the model said so. */
export function saysItResumes(context: ToolContext | undefined): boolean {
  return listHolders(context).some(({ resumeData }) => resumeData != null);
}

/** Runs a tool, and tells by what it calls whether it has suspended its call. @throws Suspension if it has */
export async function runSuspendable(context: ToolContext | undefined, run: () => unknown): Promise<unknown> {
  let isSuspended = false;
  // In place: a copy of the context would lose what Mastra knows it by.
  for (const holder of listHolders(context)) {
    const { suspend } = holder;
    if (typeof suspend !== "function") continue;
    holder.suspend = (...parts) => {
      isSuspended = true;
      return Reflect.apply(suspend, holder, parts);
    };
  }
  try {
    const content = await run();
    if (!isSuspended) return content;
    throw new Suspension(() => content);
  } catch (error) {
    if (!isSuspended || isSuspension(error)) throw error;
    throw new Suspension(() => {
      throw error;
    });
  }
}

/** A context and its parts, any of which may suspend the call. */
export function listHolders(context: ToolContext | undefined): Suspendable[] {
  return [context, context?.agent, context?.workflow].filter((holder) => holder !== undefined);
}
