export {
  Outbox,
  type OutboxOptions,
  type OutboxPlan,
  openOutbox,
  type StoredPlan,
} from "./outbox.ts";
export {
  type FlushResult,
  type UploadBatch,
  UploadError,
  Uploader,
  type UploadOptions,
  type UploadTrouble,
} from "./uploader.ts";
