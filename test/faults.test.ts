import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FAULTS } from "./faults/all-faults.ts";
import { plantFault } from "./faults/fault.ts";
import { PAGE, startRow } from "./faults/page.ts";

const root = new URL("..", import.meta.url);
const rows = readFileSync(PAGE, "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| fault |"));

describe("the planted faults", () => {
  test("have names of their own", () => {
    expect(FAULTS.length).toBeGreaterThanOrEqual(20);
    expect(new Set(FAULTS.map(({ id }) => id)).size).toBe(FAULTS.length);
  });

  test.each(FAULTS)("$id: its text occurs once in $file, and its tests are there", (fault) => {
    const source = readFileSync(new URL(fault.file, root), "utf8");
    expect(plantFault(source, fault)).not.toBe(source);
    expect(new Set(fault.tests).size).toBe(fault.tests.length);
    for (const file of fault.tests) {
      expect(file).toMatch(/\.test\.ts$/);
      expect(existsSync(new URL(file, root)), file).toBe(true);
    }
  });

  test.each(FAULTS)("$id is on the page, with a test of each of its files: npm run test:faults -- --save", (fault) => {
    const row = rows.find((line) => line.startsWith(startRow(fault))) ?? "";
    for (const file of fault.tests) expect(row).toContain(`](../${file}): “`);
  });

  test("are all that is on the page", () => {
    expect(rows).toHaveLength(FAULTS.length);
  });
});

describe("a fault is planted", () => {
  const fault = {
    id: "x",
    breaks: "It",
    file: "a.ts",
    text: "a < b",
    becomes: "a <= $& b",
    tests: ["a.test.ts"],
  } as const;

  test("once, as it is written", () => {
    expect(plantFault("if (a < b) c();", fault)).toBe("if (a <= $& b) c();");
  });

  test.each([
    ["is not there", "if (a <= b) c();", fault, "x: its text occurs 0 times in a.ts, and not once"],
    ["is there twice", "a < b, a < b", fault, "x: its text occurs 2 times in a.ts, and not once"],
    ["is nothing", "a < b", { ...fault, text: "" }, "and not once"],
  ])("not where its text %s", (_name, source, planted, message) => {
    expect(() => plantFault(source, planted)).toThrow(message);
  });
});
