import type {
  agentEndpoints,
  peopleEndpoints,
  policyEndpoints,
  signingKeyEndpoints,
  webhookEndpoints,
} from "../../core/api/index.ts";
import type { HandlersOf } from "../handler.ts";
import { createSignInLink } from "../people/sign-in.ts";
import { createAgent, disableAgent, listAgents, updateAgent } from "./agents.ts";
import { createKey, listKeys, revokeKey } from "./keys.ts";
import { toOperator } from "./operator.ts";
import { listPeople, removePerson, savePerson } from "./people.ts";
import { getPolicy, listPolicies, pushPolicy } from "./policies.ts";
import { listSigningKeys, rotateSigningKey } from "./signing-keys.ts";
import { createWebhook, listWebhooks, removeWebhook } from "./webhooks.ts";

/** What administrators do through the server; the command line does the same without it. */
export const adminHandlers: HandlersOf<
  typeof agentEndpoints &
    typeof peopleEndpoints &
    typeof webhookEndpoints &
    Pick<typeof policyEndpoints, "pushPolicy" | "listPolicies" | "getPolicy"> &
    Pick<typeof signingKeyEndpoints, "listSigningKeys" | "rotateSigningKey">
> = {
  async createAgent({ caller, body }, context) {
    return { status: 201, body: await createAgent(toOperator(caller, context), body) };
  },
  async listAgents({ caller, query }, context) {
    return { status: 200, body: await listAgents(toOperator(caller, context), query) };
  },
  async updateAgent({ caller, params, body }, context) {
    return { status: 200, body: await updateAgent(toOperator(caller, context), params["agentId"] ?? "", body) };
  },
  async disableAgent({ caller, params }, context) {
    return { status: 200, body: await disableAgent(toOperator(caller, context), params["agentId"] ?? "") };
  },

  async createKey({ caller, params, body }, context) {
    return { status: 201, body: await createKey(toOperator(caller, context), params["agentId"] ?? "", body) };
  },
  async listKeys({ caller, params, query }, context) {
    return { status: 200, body: await listKeys(toOperator(caller, context), params["agentId"] ?? "", query) };
  },
  async revokeKey({ caller, params }, context) {
    return { status: 200, body: await revokeKey(toOperator(caller, context), params["keyId"] ?? "") };
  },

  async savePerson({ caller, params, body }, context) {
    const person = { ...body, email: params["email"] ?? "" };
    return { status: 200, body: await savePerson(toOperator(caller, context), person) };
  },
  async listPeople({ caller, query }, context) {
    return { status: 200, body: await listPeople(toOperator(caller, context), query) };
  },
  async removePerson({ caller, params }, context) {
    return { status: 200, body: await removePerson(toOperator(caller, context), params["email"] ?? "") };
  },
  async createSignInLink({ caller, params }, context) {
    const operator = { ...toOperator(caller, context), publicUrl: context.publicUrl };
    return { status: 201, body: await createSignInLink(operator, params["email"] ?? "") };
  },

  async pushPolicy({ caller, params, body }, context) {
    return { status: 201, body: await pushPolicy(toOperator(caller, context), params["agentId"] ?? "", body) };
  },
  async listPolicies({ caller, params, query }, context) {
    return { status: 200, body: await listPolicies(toOperator(caller, context), params["agentId"] ?? "", query) };
  },
  async getPolicy({ caller, params }, context) {
    const { agentId = "", version = "" } = params;
    return { status: 200, body: await getPolicy(toOperator(caller, context), agentId, version) };
  },

  async createWebhook({ caller, body }, context) {
    return { status: 201, body: await createWebhook(toOperator(caller, context), body) };
  },
  async listWebhooks({ caller, query }, context) {
    return { status: 200, body: await listWebhooks(toOperator(caller, context), query) };
  },
  async removeWebhook({ caller, params }, context) {
    return { status: 200, body: await removeWebhook(toOperator(caller, context), params["webhookId"] ?? "") };
  },

  async listSigningKeys({ caller }, context) {
    return { status: 200, body: await listSigningKeys(toOperator(caller, context)) };
  },
  async rotateSigningKey({ caller }, context) {
    return { status: 201, body: await rotateSigningKey(toOperator(caller, context)) };
  },
};
