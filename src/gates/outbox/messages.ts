import type { ChainHead } from "../../core/index.ts";

/** What the two threads of an outbox say to each other. Everything here survives a structured clone. */

/** What the worker is started with. */
export interface WorkerSetup {
  /** Absolute. */
  readonly path: string;
  readonly maxBacklog: number;
  readonly retentionMs: number;
  readonly busyTimeoutMs: number;
  /** Tests only: how much longer each sync takes. */
  readonly syncDelayMs: number;
  /** Tests only: a file that cannot grow past so many pages, like a disk that is full. */
  readonly maxPages: number | undefined;
}

/**
 * Entries of one plan that follow on each other; the first is number `seq` and follows on `prev`. A list, because these
 * are many: names of fields would take most of the way between the threads.
 */
export type Append = readonly [
  planId: string,
  seq: number,
  prev: string | null,
  /** Something new is decided; otherwise it is about calls that ran already. */
  decides: boolean,
  /** The plan is done. */
  closes: boolean,
  /** The digest of each entry, and its JSON text. */
  ...texts: string[],
];

/** Where an append's texts begin. */
const TEXTS = 5;

export interface BeginOperation {
  readonly kind: "begin";
  readonly planId: string;
  readonly upload: boolean;
  readonly target: string;
  /** JSON text. */
  readonly clientKey: string | null;
  readonly state: string | null;
  /** The end of the chain that the server has, for a plan that was begun elsewhere. */
  readonly base?: ChainHead;
}

/** Who uploads: one uploader in one process. */
export interface LeaseHolder {
  readonly owner: string;
  readonly host: string;
  readonly pid: number;
}

/** Takes the lease of a plan that waits longest, with the next of its entries. */
export interface TakeOperation {
  readonly kind: "take";
  readonly holder: LeaseHolder;
  readonly leaseMs: number;
  readonly target: string;
  /** Plans that somebody waits for. */
  readonly first: readonly string[];
  /** Plans to pass over. */
  readonly except: readonly string[];
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export interface TakenBatch {
  readonly planId: string;
  readonly clientKey: string | null;
  readonly from: number;
  /** Digest of the entry before, or null. */
  readonly prev: string | null;
  /** Digest of the last entry. */
  readonly head: string;
  readonly bodies: readonly string[];
}

/** A server has stored every entry below `seq`, of which the last has the digest `head`. */
export interface AcknowledgeOperation {
  readonly kind: "acknowledge";
  readonly planId: string;
  readonly owner: string;
  readonly seq: number;
  readonly head: string;
  readonly receipt: string;
}

/** Gives a lease back; with `refused`, the plan is parked for this reason. */
export interface ReleaseOperation {
  readonly kind: "release";
  readonly planId: string;
  readonly owner: string;
  readonly refused?: string;
}

export interface RenewOperation {
  readonly kind: "renew";
  readonly planIds: readonly string[];
  readonly owner: string;
  readonly leaseMs: number;
}

/** Lets a parked plan go on. */
export interface UnparkOperation {
  readonly kind: "unpark";
  readonly planId: string;
}

/** What is not acknowledged: of everything for a target, or of one plan below a number. */
export interface CountOperation {
  readonly kind: "count";
  readonly target: string;
  readonly planId?: string;
  readonly below?: number;
}

export interface Waiting {
  /** Entries that are on their way. */
  readonly waiting: number;
  /** Entries of plans that are parked. */
  readonly refused: number;
}

export interface EntriesOperation {
  readonly kind: "entries";
  readonly planId: string;
}

/** All plans that are not done, or one in whatever state. */
export interface PlansOperation {
  readonly kind: "plans";
  readonly planId?: string;
}

export interface PlanRow {
  readonly planId: string;
  readonly upload: boolean;
  readonly target: string;
  readonly clientKey: string | null;
  readonly state: string | null;
  readonly seq: number;
  readonly prev: string | null;
  readonly uploaded: number;
  readonly receipt: string | null;
  readonly closed: boolean;
  readonly refused: string | null;
}

export interface CloseOperation {
  readonly kind: "close";
}

export type Operation =
  | BeginOperation
  | TakeOperation
  | AcknowledgeOperation
  | ReleaseOperation
  | RenewOperation
  | UnparkOperation
  | CountOperation
  | EntriesOperation
  | PlansOperation
  | CloseOperation;

/** What an operation is answered with, by its kind. */
export interface Results {
  readonly begin: undefined;
  readonly take: TakenBatch | undefined;
  readonly acknowledge: undefined;
  readonly release: undefined;
  readonly renew: undefined;
  readonly unpark: undefined;
  readonly count: Waiting;
  readonly entries: readonly string[];
  readonly plans: readonly PlanRow[];
  readonly close: undefined;
}

export type Result = Results[Operation["kind"]];

export type Request = Append | Operation;

export function isAppend(request: Request): request is Append {
  return Array.isArray(request);
}

/** The characters of an append's texts. */
export function sizeOf(append: Append): number {
  let size = 0;
  for (let index = TEXTS; index < append.length; index++) size += (append[index] as string).length;
  return size;
}

export interface Failure {
  readonly code: "ERR_AUDIT_WRITE" | "ERR_AUDIT_BACKLOG" | "ERR_UNKNOWN_PLAN" | "ERR_INVALID_OPTIONS";
  readonly message: string;
}

/** `true`: what was to be appended is stored. */
export type Reply = true | { readonly failure: Failure } | { readonly failure?: undefined; readonly value: Result };

/** What became of a group of requests. */
export interface Group {
  /** In the order of the requests. */
  readonly replies: readonly Reply[];
  /** How long it took. */
  readonly tookMs: number;
  /** How many entries wait for upload now, in all processes, if the group has added some. */
  readonly waiting?: number;
}

/** What the worker says: once whether the file is open, then what became of groups of requests, in their order. */
export type FromWorker = { readonly opened: true } | { readonly opened: false; readonly message: string } | Group;
