import { type ReadonlySignal, signal } from "@preact/signals";
import type { HoldNews } from "./pending-holds.ts";

export interface LiveHolds {
  /** False while the connection is broken; it is made again by itself. */
  readonly isLive: ReadonlySignal<boolean>;
  close(): void;
}

export interface LiveSetup {
  /** Whose holds: tabs of one person share a connection. */
  readonly email: string;
  /** Undefined: something may have been missed. */
  readonly onNews: (news: HoldNews | undefined) => void;
  /** The server does not want the connection: perhaps nobody is signed in any more. */
  readonly onRefused: () => void;
}

type Message = { readonly news: HoldNews | undefined } | { readonly isLive: boolean } | "asks";

/**
 * Follows what becomes of a person's holds. A browser has six connections to a server over HTTP/1.1, for all tabs
 * together, so one tab has the stream and tells the others: the one in front, which nothing puts to sleep. The lock needs a
 * secure context, and so does the session's cookie.
 */
export function watchHolds({ email, onNews, onRefused }: LiveSetup): LiveHolds {
  const name = `intentlock holds of ${email}`;
  const isLive = signal(true);
  const channel = new BroadcastChannel(name);
  const closing = new AbortController();
  let stream: Stream | undefined;
  const tell = (message: Message): void => channel.postMessage(message);
  const receive = (message: Message): void => {
    if (message === "asks") {
      if (stream) tell({ isLive: isLive.value });
    } else if ("isLive" in message) isLive.value = message.isLive;
    else onNews(message.news);
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => receive(data));
  const publish = (message: Message): void => {
    receive(message);
    tell(message);
  };

  let latest: AbortController | undefined;
  const lead = async (steal: boolean): Promise<void> => {
    latest?.abort();
    const own = new AbortController();
    latest = own;
    let opened: Stream | undefined;
    const hold = async (): Promise<void> => {
      opened = openStream(publish, onRefused);
      stream = opened;
      await new Promise((resolve) => closing.signal.addEventListener("abort", resolve));
    };
    try {
      await navigator.locks.request(name, steal ? { steal } : { signal: own.signal }, hold);
    } catch (error) {
      // Another tab has come to the front and taken it, or this one asks anew.
      if (!(error instanceof DOMException && error.name === "AbortError")) throw error;
    }
    opened?.close();
    if (stream === opened) stream = undefined;
    if (latest === own && !closing.signal.aborted) void lead(false);
  };
  const comeForward = (): void => {
    if (!document.hidden && !stream) void lead(true);
  };
  document.addEventListener("visibilitychange", comeForward);
  tell("asks");
  void lead(!document.hidden);
  const close = (): void => {
    document.removeEventListener("visibilitychange", comeForward);
    closing.abort();
    latest?.abort();
    stream?.close();
    channel.close();
  };
  return { isLive, close };
}

interface Stream {
  close(): void;
}

const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;

/** The stream of events, made again when it breaks. Each time that it begins, something may have been missed before. */
function openStream(publish: (message: Message) => void, onRefused: () => void): Stream {
  let retryMs = FIRST_RETRY_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const open = (): void => {
    source = new EventSource("/v1/inbox/events");
    source.addEventListener("open", () => {
      retryMs = FIRST_RETRY_MS;
      publish({ isLive: true });
      publish({ news: undefined });
    });
    source.addEventListener("look", () => publish({ news: undefined }));
    source.addEventListener("hold", ({ data }: MessageEvent<string>) => publish({ news: readNews(data) }));
    source.addEventListener("error", () => {
      publish({ isLive: false });
      // The browser tries again after a broken connection, and not after an answer that is no stream.
      if (source.readyState !== EventSource.CLOSED) return;
      onRefused();
      publish({ news: undefined });
      timer = setTimeout(open, retryMs);
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    });
  };
  open();
  const close = (): void => {
    clearTimeout(timer);
    source.close();
  };
  return { close };
}

/** Undefined for what is not news as this version knows them: whoever gets it looks for themselves. */
export function readNews(data: string): HoldNews | undefined {
  try {
    const news = JSON.parse(data) as Partial<HoldNews> | null;
    if (typeof news?.holdId === "string" && typeof news.status === "string") return news as HoldNews;
  } catch {
    // Of a later version, perhaps.
  }
  return undefined;
}
