import type { ComponentChildren, JSX } from "preact";
import type { InboxItemAnswer } from "../../../../core/api/holds.ts";
import type { Json } from "../../../../core/json.ts";
import { Text } from "../parts/text.tsx";
import { HoldArguments } from "./hold-arguments.tsx";
import { HoldPlan } from "./hold-plan.tsx";
import { HoldRecord } from "./hold-record.tsx";
import { hasContext, TaskContext, TaskWords } from "./hold-task.tsx";
import { listOrigins } from "./list-origins.ts";
import { ValueOrigins } from "./value-origins.tsx";

export interface HoldDetailProps {
  readonly item: InboxItemAnswer;
}

/** All that a person has to know to decide: what will run, why it is held, what was asked for and what was planned. */
export function HoldDetail({ item }: HoldDetailProps): JSX.Element {
  const { kind, agentName, user, tool, args, similar, rule, ruleReason, task, plan, step } = item;
  return (
    <>
      <header class="hold-title">
        <h2>{tool === undefined ? "A whole plan" : <Text class="tool" value={tool} />}</h2>
        <p class="quiet">
          <Text class="strong" value={agentName} /> {kind === "plan" ? "wants to begin this" : "wants to run this"} for{" "}
          <Text class="strong" value={user} />, who asked:
        </p>
        <TaskWords task={task} />
      </header>
      <Why rule={rule} reason={ruleReason} kind={kind} />
      {kind === "call" && (
        <HoldArguments args={args as Json} similar={similar}>
          <ValueOrigins origins={listOrigins(item, args as Json)} plan={plan} href={`/plans/${item.planId}`} />
        </HoldArguments>
      )}
      {hasContext(task) && (
        <Section title="What came with the task">
          <TaskContext task={task} />
        </Section>
      )}
      <Section title="The plan">
        <HoldPlan plan={plan} step={step} />
      </Section>
      <Section title="The record">
        <HoldRecord item={item} />
      </Section>
    </>
  );
}

export function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="hold-section">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

interface WhyProps {
  readonly rule: string | undefined;
  readonly reason: string | undefined;
  readonly kind: InboxItemAnswer["kind"];
}

function Why({ rule, reason, kind }: WhyProps): JSX.Element {
  if (kind === "plan") return <p class="hold-why">Nothing is signed until a person has seen the plan.</p>;
  return (
    <p class="hold-why">
      {reason === undefined ? "A rule of the policy holds it." : <Text class="hold-reason" value={reason} />}
      {rule !== undefined && (
        <span class="hold-rule">
          rule <Text class="code" value={rule} />
        </span>
      )}
    </p>
  );
}
