/** `once`, `at most 3 times`, `2 of 3 calls`; nothing if there is nothing to say. */
export function describeCalls(maxCalls: number | undefined, used: number | undefined): string {
  if (used !== undefined && maxCalls !== undefined)
    return `${used} of ${maxCalls} ${maxCalls === 1 ? "call" : "calls"}`;
  if (used !== undefined) return `${used} ${used === 1 ? "call" : "calls"}, no limit`;
  if (maxCalls === undefined) return "";
  return maxCalls === 1 ? "once" : `at most ${maxCalls} times`;
}
