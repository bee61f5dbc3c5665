import { adminAuditEndpoints } from "./admin-audit.ts";
import { agentEndpoints } from "./agents.ts";
import { auditEndpoints } from "./audit.ts";
import { budgetEndpoints } from "./budgets.ts";
import { callEndpoints } from "./calls.ts";
import { historyEndpoints } from "./history.ts";
import { holdEndpoints } from "./holds.ts";
import { leaseEndpoints } from "./leases.ts";
import { peopleEndpoints } from "./people.ts";
import { planEndpoints } from "./plans.ts";
import { policyEndpoints } from "./policies.ts";
import { sessionEndpoints } from "./session.ts";
import { signingKeyEndpoints } from "./signing-keys.ts";
import { systemEndpoints } from "./system.ts";
import { webhookEndpoints } from "./webhooks.ts";

/** Everything that can be asked of the server, by the name of what is done. */
export const endpoints: typeof planEndpoints &
  typeof leaseEndpoints &
  typeof budgetEndpoints &
  typeof callEndpoints &
  typeof holdEndpoints &
  typeof auditEndpoints &
  typeof historyEndpoints &
  typeof policyEndpoints &
  typeof agentEndpoints &
  typeof peopleEndpoints &
  typeof adminAuditEndpoints &
  typeof sessionEndpoints &
  typeof webhookEndpoints &
  typeof signingKeyEndpoints &
  typeof systemEndpoints = Object.freeze({
  ...planEndpoints,
  ...leaseEndpoints,
  ...budgetEndpoints,
  ...callEndpoints,
  ...holdEndpoints,
  ...auditEndpoints,
  ...historyEndpoints,
  ...policyEndpoints,
  ...agentEndpoints,
  ...peopleEndpoints,
  ...adminAuditEndpoints,
  ...sessionEndpoints,
  ...webhookEndpoints,
  ...signingKeyEndpoints,
  ...systemEndpoints,
});
