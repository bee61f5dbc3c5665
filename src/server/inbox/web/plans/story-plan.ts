import { type Context, createContext } from "preact";
import type { Plan } from "../../../../core/plan.ts";

/** The plan whose story is told: entries name its steps. */
export const StoryPlan: Context<Plan | undefined> = createContext<Plan | undefined>(undefined);
