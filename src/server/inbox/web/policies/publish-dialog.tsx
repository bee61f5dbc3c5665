import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { AgentAnswer } from "../../../../core/api/agents.ts";
import type { PolicyVersion, PushPolicyBody } from "../../../../core/api/policies.ts";
import { ApiError } from "../api.ts";
import { Field } from "../parts/field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Moment } from "../parts/moment.tsx";
import { Text } from "../parts/text.tsx";
import { api } from "../session.ts";
import { describeChanges } from "./describe-changes.ts";
import { Difference } from "./difference.tsx";
import { findPolicy, type PolicyText } from "./find-policy.ts";
import { PolicyTrial } from "./policy-trial.ts";

/** A text that is to become the policy. */
export interface Publishing {
  readonly title: string;
  readonly text: string;
  /** The version that its author had before them; 0 if there was none. */
  readonly base: number;
  readonly comment: string;
}

export interface PublishDialogProps {
  readonly agent: AgentAnswer;
  readonly publishing: Publishing;
  /** What counted when it was last loaded. */
  readonly current: PolicyText | undefined;
  readonly onClose: () => void;
  readonly onPublished: (policy: PolicyText) => void;
}

const REPLAY = 50;
const MAX_COMMENT = 2000;

/** Publishes a policy after one more look at what it changes. Who was overtaken by somebody else is told, and asked again. */
export function PublishDialog({ agent, publishing, current, onClose, onPublished }: PublishDialogProps): JSX.Element {
  const { title, text, base } = publishing;
  const [comment, setComment] = useState(publishing.comment);
  const [latest, setLatest] = useState(current);
  const isOvertaken = (latest?.version ?? 0) !== base;
  const publish = async (): Promise<void> => {
    const words = comment.trim();
    const body = { text, baseVersion: latest?.version ?? 0, ...(words !== "" && { comment: words }) };
    const published = await push(agent.agentId, body);
    if (published) onPublished({ ...published, text });
    // What is shown is not what would be replaced: look first.
    else setLatest(await findPolicy(agent.agentId, "current"));
  };
  return (
    <FormDialog
      title={title}
      submit={isOvertaken ? "Publish all the same" : "Publish"}
      kind={isOvertaken ? "danger" : "primary"}
      onClose={onClose}
      onSubmit={publish}
    >
      {() => (
        <>
          {isOvertaken && latest && <Overtaken base={base} latest={latest} />}
          <Effect agent={agent} text={text} />
          <div class="publish-difference">
            <h3>{latest ? `Differences to version ${latest.version}` : "The policy"}</h3>
            <Difference before={latest?.text ?? ""} after={text} label="What is published" />
          </div>
          <Field label="Comment" optional help="Why it changes, for those who look at the versions later.">
            {(control) => (
              <textarea
                {...control}
                class="textarea"
                maxLength={MAX_COMMENT}
                value={comment}
                data-focus
                onInput={({ currentTarget }) => setComment(currentTarget.value)}
              />
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}

/** @returns undefined if another version counts than the one that it is based on */
async function push(agentId: string, body: PushPolicyBody): Promise<PolicyVersion | undefined> {
  try {
    return await api.post<PolicyVersion>(`/v1/agents/${encodeURIComponent(agentId)}/policies`, body);
  } catch (error) {
    if (error instanceof ApiError && error.code === "policy_changed") return undefined;
    throw error;
  }
}

function Overtaken({ base, latest }: { readonly base: number; readonly latest: PolicyText }): JSX.Element {
  return (
    <div class="note note-bad" role="alert">
      <Icon name="alert" />
      <div>
        <p>
          <Text class="strong" value={latest.createdBy} /> published version {latest.version}{" "}
          <Moment at={latest.createdAt} show="relative" />
          {latest.comment !== undefined && (
            <>
              {" ("}
              <Text value={latest.comment} />)
            </>
          )}
          . {base === 0 ? "Yours was begun when there was none." : `Yours was begun from version ${base}.`}
        </p>
        <p>Publishing yours takes back what they changed, as the differences below show.</p>
      </div>
    </div>
  );
}

/** The dry run of exactly the text that is published. */
function Effect({ agent, text }: { readonly agent: AgentAnswer; readonly text: string }): JSX.Element {
  const trial = useMemo(() => new PolicyTrial(api, agent.name), [agent.name]);
  useEffect(() => {
    trial.set({ text, replay: REPLAY, calls: [] });
    return () => trial.close();
  }, [trial, text]);
  const result = trial.result.value;
  const failed = ["invalid", "failed"].includes(trial.state.value);
  return (
    <div class="note" role="status">
      <Icon name="policy" />
      <p>
        {result && describeChanges(result)}
        {!result && (failed ? "It could not be tried on the last decisions." : "Trying it on the last decisions…")}
      </p>
    </div>
  );
}
