import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PersonAnswer, SignInLinkAnswer } from "../../../../core/api/people.ts";
import { NoticeDialog } from "../parts/dialog.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Secret } from "../parts/secret.tsx";
import { Text } from "../parts/text.tsx";
import { TimeLeft } from "../parts/time-left.tsx";
import { useOpener } from "../parts/use-opener.ts";
import { api } from "../session.ts";
import { explainPersonRefusal } from "./explain-person-refusal.ts";

export interface SignInLinkDialogProps {
  readonly person: PersonAnswer;
  readonly onClose: () => void;
  readonly onMade: () => void;
}

/** Makes a link and shows it, once: the server keeps no copy that could be shown again. */
export function SignInLinkDialog({ person: { email }, onClose, onMade }: SignInLinkDialogProps): JSX.Element {
  const [link, setLink] = useState<SignInLinkAnswer>();
  useOpener();
  const make = async (): Promise<void> => {
    setLink(await api.post<SignInLinkAnswer>(`/v1/people/${encodeURIComponent(email)}/sign-in-link`));
    onMade();
  };
  if (link) return <MadeLink key="made" email={email} link={link} onClose={onClose} />;
  return (
    <FormDialog
      title="Make a sign-in link?"
      submit="Make the link"
      onClose={onClose}
      onSubmit={make}
      explain={explainPersonRefusal}
    >
      {() => <Warning email={email} />}
    </FormDialog>
  );
}

function Warning({ email }: { readonly email: string }): JSX.Element {
  return (
    <div class="note note-waiting">
      <Icon name="alert" />
      <p>
        Whoever opens the link first acts as <Text class="strong" value={email} /> here, with all their roles. Send it
        to them alone, over a way that you trust. It works once.
      </p>
    </div>
  );
}

interface MadeLinkProps {
  readonly email: string;
  readonly link: SignInLinkAnswer;
  readonly onClose: () => void;
}

function MadeLink({ email, link: { url, expiresAt }, onClose }: MadeLinkProps): JSX.Element {
  return (
    <NoticeDialog title="The sign-in link" onClose={onClose}>
      <Warning email={email} />
      <Secret what="sign-in link" label="The link, shown this once" value={url} first />
      <p>
        It can be opened for <TimeLeft until={expiresAt} />
      </p>
    </NoticeDialog>
  );
}
