import { freezeJson, type Json, type JsonObject } from "../json.ts";
import { PROBLEM_MEDIA_TYPE, PROBLEMS, type ProblemCode, problemSchema } from "../problem.ts";
import { type ApiSchemas, describeQuery, describeSchema, describeSchemas } from "./api-schemas.ts";
import { type AnyEndpoint, type AuthKind, MAX_BODY_BYTES, problemsOf, SESSION_COOKIE } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { listParameters, parameterSchema } from "./parameters.ts";
import { BACKGROUND_HEADER, CSRF_HEADER } from "./session.ts";

/**
 * The server's API as an OpenAPI 3.1 document, frozen: every endpoint, with the schemas of what is asked and answered and
 * the problems that may be answered instead.
 *
 * @param options.version of the server
 */
export function describeApi({ version }: { readonly version: string }): Json {
  const schemas = describeSchemas(endpoints);
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, endpoint] of Object.entries<AnyEndpoint>(endpoints)) {
    paths[endpoint.path] ??= {};
    (paths[endpoint.path] as Record<string, Json>)[endpoint.method.toLowerCase()] = describeEndpoint(
      name,
      endpoint,
      schemas,
    );
  }
  return freezeJson({
    openapi: "3.1.0",
    info: {
      title: "Intentlock",
      version,
      description:
        "Signs plans of AI agents, decides about their tool calls and waits for people. `expiresAt` is in seconds since the epoch, every other moment in milliseconds. Errors are problems with a stable `code` (RFC 9457).",
    },
    paths,
    components: { schemas: schemas.components, securitySchemes: SECURITY },
  });
}

function describeEndpoint(name: string, endpoint: AnyEndpoint, schemas: ApiSchemas): JsonObject {
  const { path, summary, auth, body, maxBodyBytes = MAX_BODY_BYTES, answers, media = "application/json" } = endpoint;
  const responses: Record<string, Json> = {};
  for (const [status, schema] of Object.entries(answers)) {
    responses[status] = {
      description: status === "202" ? "It waits" : "Done",
      content: { [media]: { schema: schemas.refer(schema) } },
    };
  }
  for (const [status, codes] of Map.groupBy(problemsOf(endpoint), (code) => PROBLEMS[code].status)) {
    responses[status] = describeProblems(codes, schemas);
  }
  const parameters = listAllParameters(endpoint);
  return {
    operationId: name,
    summary,
    tags: [path.split("/").at(path.startsWith("/v1/") ? 2 : 1) ?? ""],
    security: auth.includes("none") ? [] : [...new Set(auth.map(schemeOf))].map((scheme) => ({ [scheme]: [] })),
    "x-auth": [...auth],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { "application/json": { schema: schemas.refer(body) } } },
      "x-max-body-bytes": maxBodyBytes,
    }),
    responses,
  };
}

function listAllParameters({ path, query }: AnyEndpoint): Json[] {
  const inPath = listParameters(path).map((name) => {
    return { name, in: "path", required: true, schema: describeSchema(parameterSchema(name)) };
  });
  if (!query) return inPath;
  const { properties, required } = describeQuery(query);
  const inQuery = Object.entries(properties).map(([name, schema]) => {
    return { name, in: "query", required: required.includes(name), schema };
  });
  return [...inPath, ...inQuery];
}

function describeProblems(codes: readonly ProblemCode[], schemas: ApiSchemas): JsonObject {
  const schema = { allOf: [schemas.refer(problemSchema), { properties: { code: { enum: codes } } }] };
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}. ${PROBLEMS[code].help}`).join("\n\n"),
    content: { [PROBLEM_MEDIA_TYPE]: { schema } },
  };
}

const SESSION = `A person who is signed in; with TLS the cookie's name begins with \`__Host-\`. What changes something needs the header \`${CSRF_HEADER}\` too. A request with the header \`${BACKGROUND_HEADER}\` does not make the session last longer.`;

const SECURITY: JsonObject = {
  apiKey: { type: "http", scheme: "bearer", description: "An API key of an agent: `ilk_…`" },
  session: { type: "apiKey", in: "cookie", name: SESSION_COOKIE, description: SESSION },
};

function schemeOf(auth: AuthKind): string {
  switch (auth) {
    case "agent":
      return "apiKey";
    case "person":
    case "admin":
      return "session";
    case "none":
      throw new TypeError("Nothing is needed");
    default:
      return auth satisfies never;
  }
}
