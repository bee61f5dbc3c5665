import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../core/json.ts";
import { JsonView } from "./json-view.tsx";
import { LongText } from "./long-text.tsx";
import { Text } from "./text.tsx";

const MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>";

describe("what anybody may have written", () => {
  test("is never markup", () => {
    const html =
      renderToString(h(Text, { value: MARKUP })) + view({ [MARKUP]: MARKUP, a: [MARKUP] }, { [MARKUP]: "x" });
    expect(html).not.toMatch(/<script|<img/);
    expect(html).toContain("&lt;script>");
  });

  test("turns nothing around that stands beside it", () => {
    const html = renderToString(h(Text, { value: "\u202Eevil" }));
    expect(html).toMatch(/^<bdi dir="ltr"/);
    expect(html).toContain("U+202E");
    expect(html).not.toContain("\u202E");
  });

  test("of 100 KB is folded, whatever it is made of", () => {
    for (const text of ["x".repeat(100_000), "\u200B\u200C".repeat(50_000)]) {
      expect(view({ body: text }).length).toBeLessThan(60_000);
      expect(view({ body: text })).toContain("more characters");
      expect(renderToString(h(LongText, { value: text })).length).toBeLessThan(90_000);
    }
  });

  test("of many fields or items is folded", () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, [at]]));
    const deep = Array.from({ length: 90 }).reduce<Json>((inner) => ({ inner, other: [1, 2, 3] }), 1);
    for (const value of [many, Object.values(many), deep]) expect(view(value).length).toBeLessThan(60_000);
    expect(view(many)).toContain("Show 200 of 9,975 more fields");
  });
});

describe("differences", () => {
  test("are marked by a sign and in words, and the old value is there", () => {
    const html = view({ amount: 180, note: "wrong size", new: 1 }, { amount: 35, note: "wrong colour", old: 2 });
    for (const words of ["changed: ", "added: ", "removed: ", ">35<", "<mark>", "old"]) expect(html).toContain(words);
  });

  test("are not marked where there are none, or nothing to compare with", () => {
    for (const against of [{ a: [1] }, undefined]) expect(view({ a: [1] }, against)).not.toContain("json-sign");
  });

  test("deep in a long text are shown without what is the same before them", () => {
    const same = "s".repeat(5000);
    const html = view({ body: `${same}NEW` }, { body: `${same}OLD` });
    expect(html).toContain("NEW");
    expect(html).toContain("4,940 characters that are the same");
  });
});

function view(value: Json, against?: Json): string {
  return renderToString(h(JsonView, { value, against }));
}
