import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Issue } from "../../../../core/errors.ts";
import { Icon } from "../parts/icon.tsx";
import { Text } from "../parts/text.tsx";
import { describeIssue } from "./policy-diagnostics.ts";
import { openPolicyEditor, type PolicyEditor, type PolicyEditorSetup } from "./policy-editor.ts";

export interface EditorPaneProps extends PolicyEditorSetup {
  readonly issues: readonly Issue[];
  readonly onOpen: (editor: PolicyEditor) => void;
}

/** The editor, and the list of what is wrong with what is in it. */
export function EditorPane({ issues, onOpen, ...setup }: EditorPaneProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<PolicyEditor | undefined>(undefined);
  useEffect(() => {
    if (!place.current) return;
    const opened = openPolicyEditor(place.current, setup);
    editor.current = opened;
    onOpen(opened);
    return () => opened.close();
  }, []);
  useEffect(() => editor.current?.mark(issues), [issues]);
  return (
    <section class="policy-text" aria-label="The policy">
      <div ref={place} class="policy-editor" />
      <IssueList issues={issues} onShow={(issue) => editor.current?.show(issue)} />
      <p class="field-help policy-keys" aria-hidden="true">
        <kbd>Ctrl+Space</kbd> suggests, <kbd>F8</kbd> goes to the next error, <kbd>Ctrl+]</kbd> indents, <kbd>Tab</kbd>{" "}
        leaves the editor.
      </p>
    </section>
  );
}

interface IssueListProps {
  readonly issues: readonly Issue[];
  readonly onShow: (issue: Issue) => void;
}

const SHOWN = 20;

function IssueList({ issues, onShow }: IssueListProps): JSX.Element {
  const words = issues.length === 1 ? "1 error" : `${issues.length} errors`;
  return (
    <div class={issues.length === 0 ? "policy-issues" : "policy-issues policy-issues-some"}>
      <p class="policy-issues-count" role="status">
        {issues.length > 0 && (
          <>
            <Icon name="alert" /> {words}
          </>
        )}
      </p>
      {issues.length > 0 && (
        <ul>
          {issues.slice(0, SHOWN).map((issue, index) => (
            <li key={index}>
              <button type="button" class="policy-issue" onClick={() => onShow(issue)}>
                <span class="policy-issue-line">Line {issue.line ?? 1}</span>
                <Text value={describeIssue(issue)} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {issues.length > SHOWN && <p class="quiet">and {issues.length - SHOWN} more</p>}
    </div>
  );
}
