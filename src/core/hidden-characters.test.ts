import { expect, test } from "vitest";
import { HIDDEN_CHARACTER } from "./hidden-characters.ts";

test.each([
  ["a control character", "\u0007"],
  ["a line feed", "\n"],
  ["a mark that turns the direction of writing", "\u202e"],
  ["an isolate of a direction", "\u2067"],
  ["a space of no width", "\u200b"],
  ["a tag that repeats a letter", "\u{e0041}"],
  ["a private character", "\ue000"],
  ["an unassigned one", "\u{e0fff}"],
  ["half a pair", "\ud83d"],
  ["a letter that is drawn as nothing", "\u3164"],
  ["a variation selector", "\ufe0f"],
  ["a line separator", "\u2028"],
  ["a paragraph separator", "\u2029"],
])("%s is hidden", (_name, character) => {
  expect(HIDDEN_CHARACTER.test(`a${character}b`)).toBe(true);
});

test.each(["a", "Z", "0", "-", " ", "\u00a0", "é", "e\u0301", "木", "😀"])("%j is seen", (character) => {
  expect(HIDDEN_CHARACTER.test(character)).toBe(false);
});
