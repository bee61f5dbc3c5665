import { z } from "zod";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { Endpoint } from "./endpoint.ts";

export interface HealthAnswer {
  readonly status: "ok";
}

const health: z.ZodType<HealthAnswer> = z.object({ status: z.literal("ok") });

/** What the server says of itself. */
export const systemEndpoints: {
  readonly getApi: Endpoint<undefined, JsonObject>;
  readonly getHealth: Endpoint<undefined, HealthAnswer>;
  readonly getReadiness: Endpoint<undefined, HealthAnswer>;
} = {
  getApi: {
    method: "GET",
    path: "/v1/openapi.json",
    summary: "This description of the API (OpenAPI 3.1)",
    auth: ["none"],
    answers: { 200: z.custom<JsonObject>(isJsonObject, "expected an object").meta({ type: "object" }) },
  },
  getHealth: {
    method: "GET",
    path: "/healthz",
    summary: "Whether the process runs",
    auth: ["none"],
    answers: { 200: health },
  },
  getReadiness: {
    method: "GET",
    path: "/readyz",
    summary: "Whether the process can answer: its database can be read and written",
    auth: ["none"],
    answers: { 200: health },
  },
};
