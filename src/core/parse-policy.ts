import { type Document, isAlias, isMap, isNode, LineCounter, parseDocument, type Range, visit } from "yaml";
import { type Issue, PolicyError } from "./errors.ts";
import type { Path } from "./path.ts";
import { checkPolicy, MAX_POLICY_BYTES, type Policy } from "./policy.ts";
import { type SchemaIssue, toIssue } from "./schema.ts";

/**
 * Parses the YAML text of a policy and freezes it.
 *
 * @throws PolicyError listing every problem with its line and column: YAML syntax, duplicate keys and ids, unknown
 * fields, wrong values, patterns out of bounds, anchors and aliases, tags, several documents, more than 1 MiB
 */
export function parsePolicy(text: string): Policy {
  if (typeof text !== "string") throw new PolicyError([{ path: "", message: "expected the text of a policy" }]);
  if (text.length > MAX_POLICY_BYTES) {
    throw new PolicyError([{ path: "", message: `a policy has at most ${MAX_POLICY_BYTES} characters` }]);
  }
  const lines = new LineCounter();
  const document = parseYaml(text, lines);
  const { policy, issues } = checkPolicy(document.toJS({ maxAliasCount: 0 }));
  if (policy) return policy;
  throw new PolicyError(issues.map((issue) => ({ ...toIssue(issue), ...find(document, lines, issue) })));
}

function parseYaml(text: string, lines: LineCounter): Document {
  let document: Document;
  try {
    document = parseDocument(text, {
      version: "1.2",
      strict: true,
      uniqueKeys: true,
      lineCounter: lines,
      logLevel: "silent",
    });
  } catch (cause) {
    // The parser recurses: text nested without end exhausts its stack.
    throw new PolicyError([{ path: "", message: "nested too deeply" }], { cause });
  }
  // A warning is about something that would be read otherwise than it looks, such as an unknown tag.
  const problems = [...document.errors, ...document.warnings].map(({ message, pos: [offset] }): Issue => {
    const [firstLine = "not valid YAML"] = message.split("\n");
    return { path: "", message: firstLine.replace(/ at line \d+, column \d+:?$/, ""), ...place(lines, offset) };
  });
  visit(document, (_key, node) => {
    if (isAlias(node) || (isNode(node) && "anchor" in node && node.anchor)) {
      problems.push({ path: "", message: "anchors and aliases are not allowed", ...place(lines, node.range?.[0]) });
    }
    if (isNode(node) && node.tag?.startsWith("!")) {
      problems.push({ path: "", message: "tags are not allowed", ...place(lines, node.range?.[0]) });
    }
    return problems.length > 20 ? visit.BREAK : undefined;
  });
  if (problems.length > 0) throw new PolicyError(problems);
  return document;
}

/** Where the problem is: at its value, or at the key if the name is wrong, or at what should have held a missing field. */
function find(document: Document, lines: LineCounter, { parts, isKey }: SchemaIssue): Pick<Issue, "line" | "column"> {
  for (let length = parts.length; length >= 0; length--) {
    const exact = length === parts.length;
    const range = exact && isKey ? keyRange(document, parts) : nodeRange(document, parts.slice(0, length));
    if (range) return place(lines, range[0]);
  }
  return place(lines, 0);
}

function nodeRange(document: Document, parts: Path): Range | null | undefined {
  const node = parts.length === 0 ? document.contents : document.getIn(parts, true);
  return isNode(node) ? node.range : undefined;
}

function keyRange(document: Document, parts: Path): Range | null | undefined {
  const parent = parts.length === 1 ? document.contents : document.getIn(parts.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find(({ key }) => isNode(key) && String(key) === String(parts.at(-1)));
  return pair && isNode(pair.key) ? pair.key.range : undefined;
}

function place(lines: LineCounter, offset: number | undefined): Pick<Issue, "line" | "column"> {
  const { line, col } = lines.linePos(offset ?? 0);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
