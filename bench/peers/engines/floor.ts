import type { PolicyRule } from "intentlock/core";
import { type Engine, type PeerCall, toolOf } from "../engine.ts";
import { compilePredicate } from "../predicates.ts";

interface Entry {
  readonly index: number;
  readonly id: string;
  readonly holds: (call: PeerCall) => boolean;
}

/** Rules by the exact name or by what a name starts with. */
type Index = Map<string, Entry[]>;

/** By hand: closures, found by the exact name and by each prefix length that any rule has. */
export const floor: Engine = {
  name: "written by hand",
  async compile(rules) {
    const exact: Index = new Map();
    const byLength = new Map<number, Index>();
    for (const [index, rule] of rules.entries()) {
      const tool = toolOf(rule);
      if ("exact" in tool) add(exact, tool.exact, toEntry(rule, index));
      else {
        const prefixes = byLength.get(tool.prefix.length) ?? new Map();
        byLength.set(tool.prefix.length, prefixes);
        add(prefixes, tool.prefix, toEntry(rule, index));
      }
    }
    return {
      request: (call) => call,
      decide(call: PeerCall) {
        let best = firstMatch(exact.get(call.tool), call, undefined);
        for (const [length, prefixes] of byLength) {
          if (length <= call.tool.length) best = firstMatch(prefixes.get(call.tool.slice(0, length)), call, best);
        }
        return best?.id;
      },
    };
  },
};

function toEntry(rule: PolicyRule, index: number): Entry {
  return { index, id: rule.id, holds: compilePredicate(rule) };
}

function add(index: Index, key: string, entry: Entry): void {
  const entries = index.get(key);
  if (entries) entries.push(entry);
  else index.set(key, [entry]);
}

/** The first entry that matches, if it stands before the best one so far. */
function firstMatch(entries: readonly Entry[] = [], call: PeerCall, best: Entry | undefined): Entry | undefined {
  for (const entry of entries) {
    if (best && entry.index > best.index) return best;
    if (entry.holds(call)) return entry;
  }
  return best;
}
