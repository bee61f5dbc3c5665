import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { AgentAnswer } from "../../../../core/api/agents.ts";
import type { PageParameters } from "../pages.tsx";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { tell } from "../parts/toast.tsx";
import { api, session } from "../session.ts";
import { CompareDialog } from "./compare-dialog.tsx";
import { keepDraft, readDraft } from "./draft.ts";
import { DraftNotes } from "./draft-notes.tsx";
import { DryRun } from "./dry-run.tsx";
import { EditorPane } from "./editor-pane.tsx";
import type { PolicyText } from "./find-policy.ts";
import { LeaveDialog } from "./leave-dialog.tsx";
import type { PolicyEditor } from "./policy-editor.ts";
import { POLICY_TEMPLATE } from "./policy-template.ts";
import { PolicyTrial } from "./policy-trial.ts";
import { PolicyVersions } from "./policy-versions.tsx";
import { PublishDialog, type Publishing } from "./publish-dialog.tsx";
import { readSamples } from "./sample-calls.ts";
import { useLeaveGuard } from "./use-leave-guard.ts";
import { useSamples } from "./use-samples.ts";
import { readView, type View, writeView } from "./view.ts";

export interface PolicyWorkbenchProps extends Pick<PageParameters, "query"> {
  readonly agent: AgentAnswer;
  /** Undefined if the agent has no policy yet. */
  readonly current: PolicyText | undefined;
}

/** The editor and what belongs to it: what the text would change, and the versions that there were. */
export function PolicyWorkbench({ agent, current, query }: PolicyWorkbenchProps): JSX.Element {
  const { agentId, name } = agent;
  const { path, route } = useLocation();
  const view = readView(query);
  const setView = (next: Partial<View>): void => route(`${path}${writeView({ ...view, ...next })}`, true);

  const [published, setPublished] = useState(current);
  const start = published?.text ?? POLICY_TEMPLATE;
  const owner = session.value.status === "signed-in" ? session.value.person.email : "";
  const kept = `${owner} ${agentId}`;
  const draft = useMemo(() => readDraft(kept), [kept]);
  const [isRestored, setRestored] = useState(draft !== undefined && draft.text !== start);
  const [base, setBase] = useState(isRestored ? (draft?.base ?? 0) : (published?.version ?? 0));
  const text = useSignal(isRestored && draft ? draft.text : start);
  const isDirty = text.value !== start;
  const canPublish = isDirty || !published;

  const samples = useSamples(kept);
  const trial = useMemo(() => new PolicyTrial(api, name), [name]);
  const editor = useRef<PolicyEditor | undefined>(undefined);
  const [publishing, setPublishing] = useState<Publishing>();
  const guard = useLeaveGuard(isDirty);

  useEffect(() => () => trial.close(), [trial]);
  useEffect(() => {
    trial.set({ text: text.value, replay: view.replay, calls: readSamples(samples.drafts) });
  }, [trial, text.value, view.replay, samples.drafts]);
  useEffect(() => {
    keepDraft(kept, isDirty ? { text: text.value, base } : undefined);
  }, [kept, isDirty, text.value, base]);

  useEffect(() => {
    // The button that opened the dialog cannot be pressed any more, and the focus would be nowhere.
    if (published !== current) editor.current?.focus();
  }, [published]);

  const replace = (next: string): void => {
    editor.current?.replace(next);
    setRestored(false);
  };
  const discard = (): void => {
    setBase(published?.version ?? 0);
    replace(start);
    editor.current?.focus();
  };
  const afterPublish = (version: PolicyText): void => {
    setPublishing(undefined);
    setPublished(version);
    setBase(version.version);
    replace(version.text);
    tell(`Published version ${version.version}. It counts from the next token on.`, "good");
  };
  const isChecked = trial.state.value !== "invalid" && trial.issues.value.length === 0;
  return (
    <Page
      title={`Policy of ${name}`}
      wide
      class="policy"
      actions={
        <>
          <State version={published?.version} isDirty={isDirty} />
          {isDirty && published && (
            <Button kind="quiet" onClick={discard}>
              Discard changes
            </Button>
          )}
          <Button
            kind="primary"
            disabled={!canPublish || !isChecked}
            onClick={() => setPublishing({ text: text.value, base, comment: "", title: "Publish this policy?" })}
          >
            Publish…
          </Button>
        </>
      }
    >
      <p class="policy-back">
        <a href="/policies">All policies</a> · <a href={`/agents?agent=${encodeURIComponent(agentId)}`}>The agent</a>
      </p>
      <DraftNotes isRestored={isRestored} isNew={!published} base={base} version={published?.version ?? 0} />
      <div class="policy-panes">
        <EditorPane
          text={text.peek()}
          issues={trial.issues.value}
          onChange={(next) => {
            text.value = next;
          }}
          onOpen={(opened) => {
            editor.current = opened;
          }}
          listTools={() => [...new Set(trial.result.peek()?.rows.map(({ tool }) => tool))].toSorted()}
        />
        <DryRun trial={trial} view={view} samples={samples} onView={setView} />
      </div>
      <PolicyVersions
        agentId={agentId}
        current={published?.version}
        onCompare={(from, to) => setView({ from, to })}
        onRollBack={setPublishing}
      />
      {publishing && (
        <PublishDialog
          agent={agent}
          publishing={publishing}
          current={published}
          onClose={() => setPublishing(undefined)}
          onPublished={afterPublish}
        />
      )}
      {view.from !== undefined && view.to !== undefined && (
        <CompareDialog
          agentId={agentId}
          from={view.from}
          to={view.to}
          latest={published?.version ?? 0}
          draft={isDirty ? text.value : undefined}
          onChange={(from, to) => setView({ from, to })}
          onClose={() => setView({ from: undefined, to: undefined })}
        />
      )}
      {guard.to !== undefined && (
        <LeaveDialog
          onStay={guard.stay}
          onLeave={() => {
            keepDraft(kept, undefined);
            route(guard.to ?? "/policies");
          }}
        />
      )}
    </Page>
  );
}

function State({ version, isDirty }: { readonly version: number | undefined; readonly isDirty: boolean }): JSX.Element {
  const words = version === undefined ? "No version yet" : `Version ${version}`;
  return (
    <span class="policy-state quiet">
      {words}
      {isDirty && ", with changes that are not published"}
    </span>
  );
}
