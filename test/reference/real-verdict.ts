import { check, createStepResults, digest, indexTask } from "../../src/core/index.ts";
import { aCall, anUnsignedToken, NOW } from "../builders.ts";
import type { Verdict } from "./decide.ts";
import type { Asked, World } from "./world.ts";

/** What `check()` decides about calls in a world. */
export function decideReally(world: World): (call: Asked) => Verdict {
  const { plan, policy, user, isSigned } = world;
  const task = { instruction: world.task };
  const signedFor = isSigned ? task : { instruction: `${world.task} and more` };
  const token = anUnsignedToken({ plan, policy, user, sub: user.email, task: digest(signedFor, "task") });
  const results = createStepResults(plan);
  for (const [seq, { step, result }] of world.results.entries()) results.add(step, seq, result);
  const evidence = { task: indexTask(task), results };
  return ({ tool, args, used }) => {
    const decision = check({ token, call: aCall({ tool, args }), used, now: NOW, evidence });
    const { verdict, step, unpinned } = decision;
    const reason = decision.verdict === "block" ? decision.reason : decision.rule;
    if (reason === "call_limit") return { verdict, reason };
    return { verdict, reason, ...(step !== undefined && { step }), ...(unpinned && { unpinned }) };
  };
}
