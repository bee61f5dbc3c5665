import type { adminAuditEndpoints, historyEndpoints } from "../../core/api/index.ts";
import type { HandlersOf } from "../handler.ts";
import { toPerson } from "../people/handlers.ts";
import { assertOwnPage } from "../people/same-origin.ts";
import { describeStory } from "./describe-story.ts";
import { exportDecisions } from "./export-decisions.ts";
import { listAdminAudit } from "./list-admin-audit.ts";
import { listDecisions } from "./list-decisions.ts";
import { listFlagged } from "./list-flagged.ts";
import { getOverview } from "./overview.ts";

/** What was decided and done, for people to read. */
export const historyHandlers: HandlersOf<typeof historyEndpoints & typeof adminAuditEndpoints> = {
  async listDecisions({ caller, query }, context) {
    return { status: 200, body: await listDecisions(context, toPerson(caller).person, query) };
  },
  async exportDecisions({ caller, query, headers: asked }, context) {
    // A link on another site sends the cookie, too, and would put an export on record that nobody wanted.
    assertOwnPage(asked, context.publicUrl, true);
    const headers = { "content-disposition": 'attachment; filename="decisions.ndjson"' };
    return { status: 200, body: await exportDecisions(context, caller, query), headers };
  },
  async getStory({ caller, params, query }, context) {
    const story = { ...query, planId: params["planId"] ?? "" };
    return { status: 200, body: await describeStory(context, toPerson(caller).person, story) };
  },
  async getOverview({ query }, context) {
    return { status: 200, body: await getOverview(context, query) };
  },
  async listFlaggedPlans({ query }, context) {
    return { status: 200, body: await listFlagged(context, query) };
  },
  async listAdminAudit({ query }, context) {
    return { status: 200, body: await listAdminAudit(context, query) };
  },
};
