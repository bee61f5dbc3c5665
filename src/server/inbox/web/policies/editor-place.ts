/**
 * Where an editor is put: a shadow tree. Only there does CodeMirror give its styles to the page as constructed style
 * sheets; in the document it would write them into an element, which the page's security policy does not let it do. The
 * page's variables count in it, its rules do not.
 */
export function openEditorPlace(parent: HTMLElement): ShadowRoot {
  return parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
}
