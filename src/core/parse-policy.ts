import {
  Composer,
  CST,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  Parser,
  type Range,
  visit,
  type YAMLMap,
} from "yaml";
import { type Issue, PolicyError } from "./errors.ts";
import { MAX_JSON_DEPTH } from "./json.ts";
import type { Path } from "./path.ts";
import { checkPolicy, MAX_POLICY_BYTES, type Policy } from "./policy.ts";
import { cutIssues, MAX_ISSUES, type SchemaIssue, toIssue } from "./schema.ts";

/**
 * Parses the YAML text of a policy and freezes it.
 *
 * @throws PolicyError listing every problem with its line and column, up to 100: YAML syntax, duplicate keys and ids,
 * unknown fields, wrong values, patterns out of bounds, anchors and aliases, tags, directives, several documents, more
 * than 1 MiB
 */
export function parsePolicy(text: string): Policy {
  if (typeof text !== "string")
    throw new PolicyError([{ path: "", message: "expected the text of a policy, in YAML" }]);
  if (text.length > MAX_POLICY_BYTES || new TextEncoder().encode(text).length > MAX_POLICY_BYTES) {
    throw new PolicyError([{ path: "", message: `a policy has at most ${MAX_POLICY_BYTES} bytes` }]);
  }
  const lines = new LineCounter();
  // A byte order mark is no character of the first line.
  const document = parseYaml(text.replace(/^\ufeff/, ""), lines);
  const { policy, issues } = checkPolicy(document.toJS({ maxAliasCount: 0 }));
  if (policy) return policy;
  const placed = issues.slice(0, MAX_ISSUES).map((issue) => ({ ...toIssue(issue), ...find(document, lines, issue) }));
  throw new PolicyError(cutIssues([...placed, ...issues.slice(MAX_ISSUES).map(toIssue)]));
}

/** Reads the one document of a text, all of which means what it looks like: no tags, aliases or directives. */
function parseYaml(text: string, lines: LineCounter): Document {
  // `uniqueKeys` compares each key with each other, and `prettyErrors` looks at the whole line for each error.
  const composer = new Composer({
    version: "1.2",
    strict: true,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  const [document, second] = composer.compose(readTokens(text, lines), true, text.length);
  if (!document) throw new PolicyError([{ path: "", message: EMPTY, line: 1, column: 1 }]);
  const problems = [...document.errors, ...document.warnings.filter(({ code }) => code !== "TAG_RESOLVE_FAILED")].map(
    ({ code, message, pos: [offset] }): Problem => ({ message: IN_WORDS[code] ?? message, offset }),
  );
  visit(document, (_key, node) => {
    if (isNode(node) && (isAlias(node) ? node.source !== "" : node.anchor)) {
      problems.push({ message: "anchors and aliases are not allowed", offset: node.range?.[0] ?? 0 });
    }
    if (isNode(node) && node.tag) problems.push({ message: "tags are not allowed", offset: node.range?.[0] ?? 0 });
    if (isMap(node)) for (const problem of findDuplicateKeys(node)) problems.push(problem);
    return problems.length > MAX_ISSUES ? visit.BREAK : undefined;
  });
  if (second) problems.push({ message: "a policy is one document", offset: second.range[0] });
  else if (isEmpty(document) && problems.length === 0) problems.push({ message: EMPTY, offset: 0 });
  else if (isScalar(document.contents)) problems.push({ message: SCALAR, offset: 0 });
  if (problems.length === 0) return document;
  throw new PolicyError(
    cutIssues(problems.map(({ message, offset }): Issue => ({ path: "", message, ...place(lines, offset) }))),
  );
}

const EMPTY = "the policy is empty; it has the fields version, default and rules";

const SCALAR = "expected the text of a policy, not one word; if it is a file's name, read the file";

/** What the YAML library says so that only its author understands it. */
const IN_WORDS: { readonly [code in ErrorCode]?: string } = {
  BAD_ALIAS: "put text that begins with * or & in quotes",
  BLOCK_AS_IMPLICIT_KEY: 'a second ":" on one line; put text that has one in quotes, or check the indentation',
  NON_STRING_KEY: "a key has to be plain text",
};

function isEmpty({ contents }: Document): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

/** What is wrong with a text, and where. */
interface Problem {
  readonly message: string;
  readonly offset: number;
}

/** The tokens of a text; each document is one. Refuses what the composer, which recurses, must not see. */
function* readTokens(text: string, lines: LineCounter): Generator<CST.Token> {
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    const problem = token.type === "document" ? findDeepest(token) : findDirective(token);
    if (problem) throw new PolicyError([{ path: "", message: problem.message, ...place(lines, problem.offset) }]);
    yield token;
  }
}

/** `%YAML 1.1` would make `yes` true and `<<` a merge; `%TAG` is for tags, which are not allowed either. */
function findDirective(token: CST.Token): Problem | undefined {
  return token.type === "directive" ? { message: "directives are not allowed", offset: token.offset } : undefined;
}

/** Level by level, because text nested without end would exhaust the stack. */
function findDeepest(document: CST.Document): Problem | undefined {
  let level = [document.value].filter(CST.isCollection);
  for (let depth = 1; level[0]; depth++) {
    if (depth > MAX_JSON_DEPTH) {
      return { message: `nested more than ${MAX_JSON_DEPTH} levels deep`, offset: level[0].offset };
    }
    level = level.flatMap(({ items }) => items.flatMap(({ key, value }) => [key, value].filter(CST.isCollection)));
  }
  return undefined;
}

function findDuplicateKeys(map: YAMLMap): Problem[] {
  const seen = new Set<string>();
  return map.items.flatMap(({ key }) => {
    const name = isScalar(key) ? String(key.value) : "";
    if (seen.has(name)) return [{ message: "the key is given twice", offset: isNode(key) ? (key.range?.[0] ?? 0) : 0 }];
    seen.add(name);
    return [];
  });
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
  const pair = parent.items.find(({ key }) => isScalar(key) && key.value === parts.at(-1));
  return isNode(pair?.key) ? pair.key.range : undefined;
}

function place(lines: LineCounter, offset: number): Pick<Issue, "line" | "column"> {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
