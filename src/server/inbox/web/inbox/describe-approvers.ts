import type { Approvers } from "../../../../core/approvers.ts";

/** Who may decide, in words: `approvers, carol@acme.dev, or the user`. */
export function describeApprovers({ roles = [], emails = [], self = false }: Approvers): string {
  const names = [...roles.map((role) => `${role}s`), ...emails, ...(self ? ["the user"] : [])];
  return new Intl.ListFormat("en", { type: "disjunction" }).format(names);
}
