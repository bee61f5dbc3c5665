import type { InboxEvent } from "../../core/api/index.ts";
import type { AnswerStream } from "../handler.ts";

/** More holds than that, of which a client has not read, are one `look`. */
const MAX_WAITING = 100;

/**
 * Events for one client, as it reads them. For a client that does not read nothing gathers: of each hold its last status
 * is kept, of very many only that there was something.
 */
export class EventStream {
  readonly body: AnswerStream;
  readonly #onEnd: () => void;
  readonly #waiting = new Map<string, InboxEvent>();
  /** A comment: it opens the answer, and shows proxies and whoever reads that there is somebody. */
  #isBeatDue = true;
  #isLookDue = false;
  #isEnded = false;
  #wake: () => void = () => {};

  /** @param onEnd told once, when nobody reads any more or {@link end} was called */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => this.#pull(controller),
        cancel: () => this.end(),
      },
      { highWaterMark: 0 },
    );
  }

  tell(event: Required<InboxEvent>): void {
    // At its end: the last that happened is told last.
    this.#waiting.delete(event.holdId);
    this.#waiting.set(event.holdId, event);
    if (this.#waiting.size > MAX_WAITING) this.look();
    this.#wake();
  }

  look(): void {
    this.#waiting.clear();
    this.#isLookDue = true;
    this.#wake();
  }

  beat(): void {
    this.#isBeatDue = true;
    this.#wake();
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#onEnd();
    this.#wake();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      if (this.#isEnded) return close(controller);
      const text = this.#take();
      if (text !== "") return controller.enqueue(new TextEncoder().encode(text));
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): string {
    const beat = this.#isBeatDue ? ": here\n\n" : "";
    const look = this.#isLookDue ? printEvent("look", {}) : "";
    const holds = [...this.#waiting.values()].map((event) => printEvent("hold", event));
    this.#isBeatDue = false;
    this.#isLookDue = false;
    this.#waiting.clear();
    return [beat, look, ...holds].join("");
  }
}

/** JSON has no line break, which would end the event. */
function printEvent(name: "hold" | "look", data: InboxEvent): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function close(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close();
  } catch {
    // Whoever read it has cancelled it.
  }
}
