import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const page = readFileSync(new URL("../docs/security.md", import.meta.url), "utf8");

/** The rows of the tables of promises: an attack, what stops it, and where that is tested. */
const promises = page
  .split(/^## /m)
  .filter((part) => part.startsWith("What is promised"))
  .flatMap((part) => part.split("\n").filter((line) => /^\| (?!the attacker)/.test(line)))
  .map((line) => {
    const [attack = "", , tested = ""] = line.split("|").slice(1, -1);
    return { attack: attack.trim(), tested };
  });

const linksOf = (text: string): string[] => [...text.matchAll(/\]\(([^)#]+)/g)].map(([, link = ""]) => link);

describe("docs/security.md", () => {
  test("has its promises", () => {
    expect(promises.length).toBeGreaterThan(20);
  });

  test.each(promises)("who $attack meets tests that are there", ({ tested }) => {
    const links = linksOf(tested);
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) {
      expect(link).toMatch(/^\.\.\/(?:src|test)\/.+\.ts$/);
      const file = new URL(link, new URL("../docs/", import.meta.url));
      expect(existsSync(file), link).toBe(true);
      // Cases that several frameworks share are called by a suite of their own.
      expect(readFileSync(file, "utf8"), link).toMatch(/\btest(?:\.each)?[(<]/);
    }
  });

  test.each(["What is not promised", "People on the server"])("has what others link to: %s", (heading) => {
    expect(page).toContain(`\n## ${heading}\n`);
  });
});

describe("SECURITY.md", () => {
  const policy = readFileSync(new URL("../SECURITY.md", import.meta.url), "utf8");

  test("says how to report, what to include and which versions get fixes", () => {
    expect([...policy.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading)).toEqual(
      expect.arrayContaining(["Reporting", "What to include", "Supported versions"]),
    );
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect(policy).toContain(`| ${version.split(".").slice(0, 2).join(".")}.x | yes |`);
  });

  test("names nobody, and leads to pages that are there", () => {
    expect(policy).not.toMatch(/@[\w.-]+\.\w+/);
    for (const link of linksOf(policy)) expect(existsSync(new URL(`../${link}`, import.meta.url)), link).toBe(true);
  });
});
