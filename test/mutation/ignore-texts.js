import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

/**
 * Sentences are for people: an error's code, a verdict's rule and a name have no space in them, and are mutated. What
 * is put into a sentence is ignored with it.
 */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, "texts", {
    shouldIgnore: (path) => (isSentence(textOf(path)) ? "a sentence" : undefined),
  }),
];

function textOf(path) {
  if (path.isStringLiteral()) return path.node.value;
  return path.isTemplateLiteral() ? path.node.quasis.map(({ value }) => value.raw).join("") : "";
}

function isSentence(text) {
  return text.includes(" ") && /\p{L}/u.test(text);
}
