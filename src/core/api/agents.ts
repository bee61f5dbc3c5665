import { z } from "zod";
import { type Budget, budgetSchema } from "../budget.ts";
import { closedObject } from "../schema.ts";
import type { Endpoint } from "./endpoint.ts";
import { type ListQuery, listQuerySchema, momentSchema, personSchema, serverIdSchema, titleSchema } from "./values.ts";

/** What an administrator may set for an agent. What is not given is as the server has it by default. */
export interface AgentSettings {
  /** How long a token is valid. */
  readonly planTtlSeconds?: number;
  /** How long a plan can be renewed. */
  readonly planMaxAgeSeconds?: number;
  /** How many holds a plan may have. */
  readonly maxHolds?: number;
  /** Hold every plan, whatever the request says. */
  readonly approvePlans?: boolean;
  readonly budget?: Budget;
}

export interface CreateAgentBody {
  readonly name: string;
  readonly settings?: AgentSettings;
}

export interface UpdateAgentBody {
  readonly name?: string;
  /** They replace the ones that there are. */
  readonly settings?: AgentSettings;
  /** Enables an agent that was disabled. */
  readonly enabled?: true;
}

export interface AgentAnswer {
  /** Immutable: the audience of its tokens. */
  readonly agentId: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly settings: AgentSettings;
  readonly createdAt: number;
  /** Version of its policy; absent if it has none. */
  readonly policyVersion?: number;
}

export interface AgentsAnswer {
  readonly agents: readonly AgentAnswer[];
  readonly next?: string;
}

export interface CreateKeyBody {
  /** E-mail of the person who answers for the key, and who may not approve its holds. */
  readonly owner: string;
  /** E-mails of the people that it may act for; all unless told. */
  readonly actsFor?: readonly string[];
  readonly name?: string;
}

/** An API key, without the key. */
export interface KeyAnswer {
  readonly keyId: string;
  readonly agentId: string;
  readonly owner: string;
  readonly actsFor?: readonly string[];
  readonly name?: string;
  readonly createdAt: number;
  readonly lastUsedAt?: number;
  readonly revokedAt?: number;
}

/** The one time that a key is shown. */
export interface CreatedKeyAnswer extends KeyAnswer {
  /** `ilk_` and letters. */
  readonly key: string;
}

export interface KeysAnswer {
  readonly keys: readonly KeyAnswer[];
  readonly next?: string;
}

const seconds = z.int().min(1).max(31_536_000);

const settingsSchema: z.ZodType<AgentSettings> = closedObject({
  planTtlSeconds: seconds.exactOptional(),
  planMaxAgeSeconds: seconds.exactOptional(),
  maxHolds: z.int().min(0).max(1000).exactOptional(),
  approvePlans: z.boolean().exactOptional(),
  budget: budgetSchema.exactOptional(),
});

export const createAgentBodySchema: z.ZodType<CreateAgentBody> = closedObject({
  name: titleSchema,
  settings: settingsSchema.exactOptional(),
});

export const updateAgentBodySchema: z.ZodType<UpdateAgentBody> = closedObject({
  name: titleSchema.exactOptional(),
  settings: settingsSchema.exactOptional(),
  enabled: z.literal(true).exactOptional(),
});

export const agentAnswerSchema: z.ZodType<AgentAnswer> = z.object({
  agentId: serverIdSchema,
  name: z.string(),
  enabled: z.boolean(),
  settings: settingsSchema,
  createdAt: momentSchema,
  policyVersion: z.int().min(1).exactOptional(),
});

export const createKeyBodySchema: z.ZodType<CreateKeyBody> = closedObject({
  owner: personSchema,
  actsFor: z.array(personSchema).min(1).max(10_000).exactOptional(),
  name: titleSchema.exactOptional(),
});

const key = {
  keyId: serverIdSchema,
  agentId: serverIdSchema,
  owner: z.string(),
  actsFor: z.array(z.string()).exactOptional(),
  name: z.string().exactOptional(),
  createdAt: momentSchema,
  lastUsedAt: momentSchema.exactOptional(),
  revokedAt: momentSchema.exactOptional(),
};

export const keyAnswerSchema: z.ZodType<KeyAnswer> = z.object(key);

export const createdKeyAnswerSchema: z.ZodType<CreatedKeyAnswer> = z.object({
  ...key,
  key: z.string().regex(/^ilk_[\w-]{20,200}$/, "expected a key"),
});

const next = z.string().exactOptional();

/** Agents and their API keys. */
export const agentEndpoints: {
  readonly createAgent: Endpoint<CreateAgentBody, AgentAnswer>;
  readonly listAgents: Endpoint<undefined, AgentsAnswer, ListQuery>;
  readonly updateAgent: Endpoint<UpdateAgentBody, AgentAnswer>;
  readonly disableAgent: Endpoint<undefined, AgentAnswer>;
  readonly createKey: Endpoint<CreateKeyBody, CreatedKeyAnswer>;
  readonly listKeys: Endpoint<undefined, KeysAnswer, ListQuery>;
  readonly revokeKey: Endpoint<undefined, KeyAnswer>;
} = {
  createAgent: {
    method: "POST",
    path: "/v1/agents",
    summary: "Makes an agent",
    auth: ["admin"],
    body: createAgentBodySchema,
    maxBodyBytes: 524_288,
    answers: { 201: agentAnswerSchema },
    problems: ["already_exists"],
  },
  listAgents: {
    method: "GET",
    path: "/v1/agents",
    summary: "The agents",
    auth: ["admin"],
    query: listQuerySchema,
    answers: { 200: z.object({ agents: z.array(agentAnswerSchema), next }) },
  },
  updateAgent: {
    method: "PATCH",
    path: "/v1/agents/{agentId}",
    summary: "Changes an agent's name or settings, or enables it again",
    auth: ["admin"],
    body: updateAgentBodySchema,
    maxBodyBytes: 524_288,
    answers: { 200: agentAnswerSchema },
    problems: ["already_exists"],
  },
  disableAgent: {
    method: "POST",
    path: "/v1/agents/{agentId}/disable",
    summary: "Disables an agent: none of its keys is accepted from here on",
    auth: ["admin"],
    answers: { 200: agentAnswerSchema },
  },
  createKey: {
    method: "POST",
    path: "/v1/agents/{agentId}/keys",
    summary: "Makes an API key and shows it, once",
    auth: ["admin"],
    body: createKeyBodySchema,
    maxBodyBytes: 4_194_304,
    answers: { 201: createdKeyAnswerSchema },
    problems: ["unknown_user"],
  },
  listKeys: {
    method: "GET",
    path: "/v1/agents/{agentId}/keys",
    summary: "An agent's API keys, without the keys",
    auth: ["admin"],
    query: listQuerySchema,
    answers: { 200: z.object({ keys: z.array(keyAnswerSchema), next }) },
  },
  revokeKey: {
    method: "POST",
    path: "/v1/keys/{keyId}/revoke",
    summary: "Revokes an API key",
    auth: ["admin"],
    answers: { 200: keyAnswerSchema },
  },
};
