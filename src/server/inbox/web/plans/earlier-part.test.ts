import { describe, expect, test } from "vitest";
import type { StoryEntry, StoryQuery } from "../../../../core/api/history.ts";
import { loadBefore, startFor } from "./earlier-part.ts";

function anEntry(seq: number): StoryEntry {
  return { seq, at: 0, receivedAt: 0, event: { type: "closed" } };
}

/** A server that has 1000 entries and fits so many into an answer. */
function aServer(most: number) {
  const asked: StoryQuery[] = [];
  const ask = async (query: StoryQuery) => {
    asked.push(query);
    const first = query.from ?? Number(query.after);
    const count = Math.min(most, query.limit ?? most, 1000 - first);
    const entries = Array.from({ length: count }, (_, index) => anEntry(first + index));
    return { entries, ...(first + count < 1000 && { next: String(first + count) }) };
  };
  return { asked, ask };
}

test.each([
  [0, 0],
  [199, 0],
  [200, 150],
  [430, 380],
])("a story in which entry %i is in sight begins with %i", (seq, start) => {
  expect(startFor(seq)).toBe(start);
});

describe("what is before an entry", () => {
  test.each([
    [380, 200, 180, 1],
    [380, 150, 180, 2],
    [380, 1, 180, 200],
    [150, 200, 0, 1],
    [1, 200, 0, 1],
  ])("before %i, of a server that answers %i at a time, begins with %i", async (end, most, from, questions) => {
    const { asked, ask } = aServer(most);
    const { entries, next } = await loadBefore(end, ask);
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: end - from }, (_, index) => from + index));
    expect(next).toBe(from === 0 ? undefined : String(from));
    expect(asked).toHaveLength(questions);
  });

  test("does not ask for ever of a server that has nothing more", async () => {
    const { entries } = await loadBefore(300, async () => ({ entries: [] }));
    expect(entries).toEqual([]);
  });
});
