export {
  Outbox,
  type OutboxOptions,
  type OutboxPlan,
  openOutbox,
  type StoredPlan,
} from "./outbox.ts";
export { type UploadBatch, UploadError } from "./upload-batch.ts";
export {
  type FlushResult,
  Uploader,
  type UploadOptions,
  type UploadTrouble,
} from "./uploader.ts";
