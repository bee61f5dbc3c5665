import type { SessionEvent } from "../../session/index.ts";

/** What whoever runs a proxy reads of an event, in one line; undefined for what need not be read. */
export function describeEvent(event: SessionEvent): string | undefined {
  switch (event.type) {
    case "plan_signed": {
      const open = event.openArguments.map(({ tool, args }) => `${tool}(${args.join(", ")})`).join(", ");
      const warning = open === "" ? "" : `; the plan leaves open: ${open}`;
      return `plan ${event.planId} is signed, ${event.plan.steps.length} steps${warning}`;
    }
    case "block":
      return `blocked ${event.tool} (${event.reason})`;
    case "hold":
      return `held ${event.tool} (${event.decision.rule}): a person is asked`;
    case "approved":
    case "rejected":
    case "timeout":
      return `${event.type} ${event.tool}`;
    case "error":
      return `${event.message}${event.code === undefined ? "" : ` (${event.code})`}`;
    case "allow":
      return undefined;
    default:
      event satisfies never;
      return undefined;
  }
}
