import type { StreamMedia } from "../../core/api/index.ts";
import type { AnswerStream } from "../handler.ts";

export interface PassOptions {
  readonly media: StreamMedia;
  /** Aborted when the client goes away or the server shuts down. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/**
 * Hands on what a handler streams, as fast as it is read, and cancels it when the signal aborts or nobody reads any more.
 * Lines that are not all there break off, so that nobody takes a part for the whole; why, only `onError` is told.
 */
export function passStream(stream: AnswerStream, { media, signal, onError }: PassOptions): AnswerStream {
  const reader = stream.getReader();
  /** Then there is nothing to close: a read that waited ends, and what it had is for nobody. */
  let isLeft = false;
  // A read that waits then ends.
  const cancel = (): Promise<void> => reader.cancel().catch(() => {});
  const end = (): void => signal.removeEventListener("abort", cancel);
  if (signal.aborted) void cancel();
  else signal.addEventListener("abort", cancel, { once: true });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await reader.read();
          if (isLeft) return;
          if (!next.done) return controller.enqueue(next.value);
          end();
          if (signal.aborted && media !== "text/event-stream") controller.error(new Error(BROKEN_OFF));
          else controller.close();
        } catch (error) {
          end();
          onError(error);
          controller.error(new Error(BROKEN_OFF));
        }
      },
      cancel() {
        isLeft = true;
        end();
        return cancel();
      },
    },
    // Nothing is read ahead of a client that does not read.
    { highWaterMark: 0 },
  );
}

const BROKEN_OFF = "The answer was broken off";
