import { expect, test } from "vitest";
import { keepDraft, readDraft } from "./draft.ts";

function aStorage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  };
}

test("a draft is kept for its agent", () => {
  const storage = aStorage();
  keepDraft("one", { text: "version: 1", base: 3 }, storage);
  expect(readDraft("one", storage)).toEqual({ text: "version: 1", base: 3 });
  expect(readDraft("two", storage)).toBeUndefined();
  keepDraft("one", undefined, storage);
  expect(readDraft("one", storage)).toBeUndefined();
});

test.each(["{", "[]", "null", '{ "text": 1, "base": 2 }', '{ "text": "" }'])("no draft is read from %s", (text) => {
  expect(readDraft("one", { ...aStorage(), getItem: () => text })).toBeUndefined();
});

test("a browser that keeps nothing is no mistake", () => {
  const refuse = (): never => {
    throw new DOMException("not allowed", "SecurityError");
  };
  const storage = { getItem: refuse, setItem: refuse, removeItem: refuse };
  expect(() => keepDraft("one", { text: "", base: 0 }, storage)).not.toThrow();
  expect(readDraft("one", storage)).toBeUndefined();
});
