import {
  type Endpoint,
  fillPath,
  PROBLEM_MEDIA_TYPE,
  type Problem,
  problemSchema,
  readMessage,
} from "../../core/api/index.ts";
import { IntentlockError, parseJson } from "../../core/index.ts";
import { readBaseUrl } from "./base-url.ts";
import { ServerError, toServerError } from "./server-error.ts";
import { sleep } from "./sleep.ts";

/** As much of the global `fetch` as is used. */
export type Fetch = (request: Request) => Promise<Response>;

export interface ServerClientOptions {
  /** `https:`, or `http:` on this machine. */
  readonly baseUrl: string;
  /** `ilk_…`, of the agent. */
  readonly apiKey: string;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** How long one request may take, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** How often what may be asked twice is asked again. Default: 3. */
  readonly retries?: number | undefined;
}

export interface Ask<Body, Query> {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: Body;
  /** The body as JSON text, instead. */
  readonly text?: string;
  readonly query?: Query;
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's own. */
  readonly timeoutMs?: number | undefined;
  /** Asking twice does no harm: asked again when there is no answer, or none of use. */
  readonly isRepeatable?: boolean;
}

/** The longest answer that is read: a signed plan with the largest policy fits. */
const MAX_ANSWER_BYTES = 16_777_216;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

/** Asks the server's endpoints, as one agent. */
export class ServerClient {
  readonly baseUrl: string;
  readonly #apiKey: string;
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;
  readonly #retries: number;

  /** @throws IntentlockError `ERR_INVALID_OPTIONS` */
  constructor(options: ServerClientOptions) {
    this.baseUrl = readBaseUrl(options?.baseUrl);
    const { apiKey, timeoutMs = 10_000, retries = 3 } = options;
    if (typeof apiKey !== "string" || !/^ilk_[\w-]{20,200}$/.test(apiKey)) {
      throw new IntentlockError(
        "ERR_INVALID_OPTIONS",
        "apiKey: expected a key, ilk_ and letters, as `intentlock key create` prints it",
      );
    }
    this.#apiKey = apiKey;
    this.#fetch = options.fetch ?? ((request) => fetch(request));
    this.#timeoutMs = assertWhole(timeoutMs, "timeoutMs", 1);
    this.#retries = assertWhole(retries, "retries", 0);
  }

  /**
   * Asks one endpoint and reads its answer with the endpoint's schema.
   *
   * @throws ServerError; the reason of `signal` if it is aborted
   */
  async ask<Body, Answer, Query>(endpoint: Endpoint<Body, Answer, Query>, ask: Ask<Body, Query> = {}): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#askOnce(endpoint, ask);
      } catch (error) {
        ask.signal?.throwIfAborted();
        if (!(error instanceof ServerError) || !mayRepeat(error, ask) || attempt >= this.#retries) throw error;
        await sleep(retryMs(attempt, error), ask.signal);
      }
    }
  }

  async #askOnce<Body, Answer, Query>(
    endpoint: Endpoint<Body, Answer, Query>,
    { params = {}, body, text: given, query, signal, timeoutMs = this.#timeoutMs }: Ask<Body, Query>,
  ): Promise<Answer> {
    const { method, path, answers } = endpoint;
    const json = given ?? (JSON.stringify(body) as string | undefined);
    const search = query === undefined ? "" : `?${new URLSearchParams(toTexts(query))}`;
    const timeout = AbortSignal.timeout(timeoutMs);
    const ended = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const request = new Request(`${this.baseUrl}${fillPath(path, params)}${search}`, {
      method,
      headers: {
        accept: `application/json, ${PROBLEM_MEDIA_TYPE}`,
        authorization: `Bearer ${this.#apiKey}`,
        ...(json !== undefined && { "content-type": "application/json" }),
      },
      body: json ?? null,
      // A redirect would take the key to wherever it leads.
      redirect: "error",
      signal: ended,
    });
    let response: Response;
    let text: string;
    try {
      response = await unlessAborted(ended, this.#fetch(request));
      text = await unlessAborted(ended, readText(response));
    } catch (cause) {
      if (cause instanceof ServerError) throw cause;
      const words = timeout.aborted ? `did not answer within ${timeoutMs} ms` : "could not be reached";
      throw new ServerError("ERR_SERVER_UNAVAILABLE", `The server ${words}: ${this.baseUrl}`, { cause });
    }
    const schema = Object.hasOwn(answers, response.status) ? answers[response.status] : undefined;
    if (!schema) throw toServerError(response.status, readProblem(text), readRetryAfter(response.headers));
    const read = readMessage(schema, parseOrNothing(text));
    if (read.valid) return read.value;
    const [issue] = read.issues;
    throw new ServerError(
      "ERR_SERVER_UNAVAILABLE",
      `The server's answer is not one to ${method} ${path}: ${issue?.path ? `${issue.path}: ` : ""}${issue?.message}`,
      { status: response.status },
    );
  }
}

/** What the server has said it did not do may be asked again, and what does no harm twice. */
function mayRepeat({ code, status }: ServerError, { isRepeatable = false }: Ask<unknown, unknown>): boolean {
  return code === "ERR_SERVER_UNAVAILABLE" && (isRepeatable || status === 429 || status === 503);
}

/** Doubled each time, at least what the server asks for, and never the same for two clients. */
function retryMs(attempt: number, { retryAfterMs = 0 }: ServerError): number {
  const most = Math.min(FIRST_RETRY_MS * 2 ** attempt, LONGEST_RETRY_MS);
  return Math.min(Math.max(most / 2 + Math.random() * (most / 2), retryAfterMs), LONGEST_RETRY_MS);
}

/** Also where whoever fetches does not look at the signal. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new ServerError("ERR_SERVER_UNAVAILABLE", "The server's answer is too long", { status: response.status });
    }
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts, bytes));
}

function parseOrNothing(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function readProblem(text: string): Problem | undefined {
  const read = problemSchema.safeParse(parseOrNothing(text));
  return read.success ? read.data : undefined;
}

function readRetryAfter(headers: Headers): number | undefined {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

function toTexts(query: unknown): [string, string][] {
  return Object.entries(query as object).flatMap(([name, value]) =>
    value === undefined ? [] : ([[name, String(value)]] as [string, string][]),
  );
}

function assertWhole(value: number, option: string, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new IntentlockError("ERR_INVALID_OPTIONS", `${option}: expected a whole number, at least ${least}`);
}
