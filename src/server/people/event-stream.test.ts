import { expect, test, vi } from "vitest";
import { EventStream } from "./event-stream.ts";

function aStream() {
  const onEnd = vi.fn();
  const stream = new EventStream(onEnd);
  const reader = stream.body.getReader();
  const read = async (): Promise<string | undefined> => {
    const { value } = await reader.read();
    return value && new TextDecoder().decode(value);
  };
  return { stream, reader, read, onEnd };
}

test("opens with a comment, so that whoever reads knows that it is there", async () => {
  const { read } = aStream();
  expect(await read()).toBe(": here\n\n");
});

test("tells what happens to a hold, and that something may have been missed", async () => {
  const { stream, read } = aStream();
  await read();
  stream.tell({ holdId: "hold-1", status: "pending" });
  expect(await read()).toBe('event: hold\ndata: {"holdId":"hold-1","status":"pending"}\n\n');
  stream.look();
  expect(await read()).toBe("event: look\ndata: {}\n\n");
  const next = read();
  stream.beat();
  expect(await next).toBe(": here\n\n");
});

test("keeps for a client that does not read the last of each hold alone", async () => {
  const { stream, read } = aStream();
  await read();
  stream.tell({ holdId: "one", status: "pending" });
  stream.tell({ holdId: "two", status: "pending" });
  stream.tell({ holdId: "one", status: "approved" });
  stream.beat();
  const events = (await read())!.split("\n\n").filter((text) => text.startsWith("event"));
  expect(events.map((text) => JSON.parse(text.split("data: ")[1]!))).toEqual([
    { holdId: "two", status: "pending" },
    { holdId: "one", status: "approved" },
  ]);
});

test("keeps of very many that there was something", async () => {
  const { stream, read } = aStream();
  await read();
  for (let index = 0; index <= 100; index += 1) stream.tell({ holdId: `hold-${index}`, status: "pending" });
  expect(await read()).toBe("event: look\ndata: {}\n\n");
});

test("ends once, whoever ends it", async () => {
  const one = aStream();
  await one.read();
  const next = one.read();
  one.stream.end();
  one.stream.end();
  expect(await next).toBeUndefined();
  expect(one.onEnd).toHaveBeenCalledTimes(1);

  const other = aStream();
  await other.read();
  const waiting = other.read();
  await other.reader.cancel();
  expect(await waiting).toBeUndefined();
  other.stream.tell({ holdId: "hold-1", status: "pending" });
  expect(other.onEnd).toHaveBeenCalledTimes(1);
});
