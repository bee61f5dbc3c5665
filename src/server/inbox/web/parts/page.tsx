import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { pageTitle } from "../page-title.ts";

export interface PageProps {
  readonly title: string;
  /** Beside the title. */
  readonly actions?: ComponentChildren;
  /** As wide as the window, for panes; otherwise as wide as lines read well. */
  readonly wide?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

let isFirst = true;

/** A page: its heading, which has the focus when one comes from another page, and its content. */
export function Page({ title, actions, wide = false, class: name = "", children }: PageProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    pageTitle.value = title;
  }, [title]);
  useEffect(() => {
    // The browser has said what the first page is.
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, []);
  return (
    <div class={`page ${wide ? "page-wide" : ""} ${name}`}>
      <header class="page-header">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
