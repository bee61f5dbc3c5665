import type { JSX } from "preact";
import { Badge } from "../parts/badge.tsx";

export function AgentStatusBadge({ enabled }: { readonly enabled: boolean }): JSX.Element {
  return enabled ? (
    <Badge tone="good" icon="allow">
      Enabled
    </Badge>
  ) : (
    <Badge tone="bad" icon="block">
      Disabled
    </Badge>
  );
}
