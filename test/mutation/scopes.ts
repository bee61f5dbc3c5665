import { existsSync, globSync } from "node:fs";
import { dirname } from "node:path";

/** A folder whose code is mutated, and the suites that it is for, beside those in it. */
interface Scope {
  readonly folder: string;
  /** Not worth a mutant: see docs/mutation-testing.md. */
  readonly without?: readonly string[];
  readonly suites: readonly string[];
  /** Files that matter most come first, for when a run is cut short. */
  readonly first?: readonly string[];
}

export const SCOPES: readonly Scope[] = [
  {
    folder: "src/core",
    without: ["src/core/index.ts", "src/core/api/**"],
    suites: [
      ...["check", "check-hostile", "compile-policy", "decided-call", "verify-audit"].map(
        (name) => `src/core/${name}.test.ts`,
      ),
      "test/local-gate.conformance.test.ts",
    ],
    first: [
      ...[
        "check",
        "compile-condition",
        "condition",
        "plan",
        "compile-plan",
        "compile-policy",
        "signed-token",
        "plan-token",
        "approval-token",
        "audit",
      ],
      ...["verify-audit", "budget", "canonical-json", "json", "glob", "regex"],
    ].map((name) => `src/core/${name}.ts`),
  },
  {
    folder: "src/session",
    without: ["src/session/index.ts", "src/session/run-identity.ts"],
    suites: [
      "src/session/*.test.ts",
      "test/holds.test.ts",
      "test/public-threads/sessions.test.ts",
      "test/framework-conformance/vercel-ai.test.ts",
    ],
    first: ["call-decider", "session", "prepare-call", "repeatable-calls"].map((name) => `src/session/${name}.ts`),
  },
  {
    folder: "src/gates",
    without: ["src/gates/index.ts", "src/gates/gate.ts", "src/gates/remote/**", "src/gates/outbox/**"],
    suites: [
      "src/gates/*.test.ts",
      "test/*gate*.conformance.test.ts",
      "test/gate-faults.test.ts",
      "test/holds.test.ts",
      "test/hybrid-renewal.test.ts",
    ],
    first: ["local", "local-decision", "local-plans", "local-ledger", "audit-trail", "plan-state"].map(
      (name) => `src/gates/${name}.ts`,
    ),
  },
  {
    folder: "src/gates/remote",
    suites: [
      "src/gates/remote/*.test.ts",
      "src/gates/http-faults.test.ts",
      "test/server-gates.conformance.test.ts",
      "test/gate-faults.test.ts",
      "test/hybrid-renewal.test.ts",
    ],
  },
  {
    folder: "src/gates/outbox",
    without: ["src/gates/outbox/index.ts"],
    suites: ["src/gates/outbox/*.test.ts", "src/gates/http-faults.test.ts"],
  },
];

export function filesOf({ folder, without = [], first = [] }: Scope): string[] {
  const skipped = ["**/*.test.ts", "**/*.test-d.ts", ...without];
  const found = globSync(`${folder}/**/*.ts`, { exclude: skipped }).toSorted();
  return [...first.filter((file) => found.includes(file)), ...found.filter((file) => !first.includes(file))];
}

/** Tests of files that have none of their own, or not all: those of what is built on them. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  "src/core/approval-token.ts": ["src/core/signed-token.test.ts"],
  "src/core/approvers.ts": ["src/core/parse-policy.test.ts", "src/core/policy.test.ts", "src/core/check.test.ts"],
  "src/core/audit.ts": ["src/core/verify-audit-sources.test.ts", "src/gates/local-audit.test.ts"],
  "src/core/audit-receipt.ts": ["src/core/signed-token.test.ts"],
  "src/core/call.ts": ["src/core/check.test.ts", "src/core/check-hostile.test.ts", "src/core/decided-call.test.ts"],
  "src/core/check.ts": [
    "src/core/check-hostile.test.ts",
    "src/core/check-sources.test.ts",
    "src/core/verdict.test.ts",
    "src/core/verify-audit-sources.test.ts",
  ],
  "src/core/compile-condition.ts": [
    "src/core/condition.test.ts",
    "src/core/check.test.ts",
    "src/core/compile-plan.test.ts",
    "src/core/check-sources.test.ts",
  ],
  "src/core/compile-policy.ts": ["src/core/check-sources.test.ts"],
  "src/core/compile-token.ts": ["src/core/check-sources.test.ts"],
  "src/core/decided-call.ts": ["src/core/verify-audit-sources.test.ts", "src/gates/local-audit.test.ts"],
  "src/core/compile-plan.ts": ["src/core/plan.test.ts", "src/core/check.test.ts", "src/core/check-sources.test.ts"],
  "src/core/matching.ts": ["src/core/condition.test.ts", "src/core/check.test.ts"],
  "src/core/pinned.ts": ["src/core/check-sources.test.ts"],
  "src/core/sources/compile-from.ts": ["src/core/check-sources.test.ts", "src/core/sources/documented.test.ts"],
  "src/core/sources/find-source.ts": [
    "src/core/check-sources.test.ts",
    "src/core/sources/compile-from.test.ts",
    "src/core/sources/documented.test.ts",
  ],
  "src/core/plan.ts": ["src/core/sources/source.test.ts"],
  "src/core/text-matcher.ts": ["src/core/condition.test.ts", "src/core/compile-policy.test.ts"],
  "src/core/verify-audit.ts": ["src/core/verify-audit-sources.test.ts"],
  "src/session/admitted-call.ts": [
    "src/session/admit.test.ts",
    "src/session/call-result.test.ts",
    "src/session/session-state.test.ts",
  ],
  "src/session/call-decider.ts": [
    "src/session/session.test.ts",
    "src/session/session-state.test.ts",
    "src/session/suspend.test.ts",
    "src/session/call-result.test.ts",
  ],
  "src/session/open-session.ts": ["src/session/start-session.test.ts", "src/session/suspend.test.ts"],
  "src/session/plan-json-schema.ts": ["src/session/plan-guide.test.ts", "src/session/planner.test.ts"],
  "src/session/prepare-call.ts": [
    "src/session/session.test.ts",
    "src/session/session-state.test.ts",
    "src/session/call-decider.test.ts",
  ],
  "src/session/read-call.ts": ["src/session/session.test.ts", "src/session/admit.test.ts"],
  "src/session/repeatable-calls.ts": ["src/session/session.test.ts", "src/session/suspend.test.ts"],
  "src/session/resume-session.ts": ["src/session/suspend.test.ts", "src/session/start-session.test.ts"],
  "src/session/session.ts": [
    "src/session/session-state.test.ts",
    "src/session/admit.test.ts",
    "src/session/suspend.test.ts",
    "src/session/call-result.test.ts",
  ],
  "src/gates/http.ts": [
    "src/gates/http-calls.test.ts",
    "src/gates/http-faults.test.ts",
    "src/gates/http-plans.test.ts",
    "src/gates/http-results.test.ts",
  ],
  "src/gates/hybrid.ts": ["src/gates/hybrid-plans.test.ts"],
  "src/gates/local.ts": ["src/gates/local-audit.test.ts", "test/local-gate.conformance.test.ts"],
  "src/gates/local-decision.ts": [
    "src/gates/local.test.ts",
    "src/gates/local-audit.test.ts",
    "src/gates/local-plans.test.ts",
    "src/gates/local-plans-portions.test.ts",
    "test/local-gate.conformance.test.ts",
  ],
  "src/gates/local-plans.ts": [
    "src/gates/local-plans-portions.test.ts",
    "src/gates/local-plans-time.test.ts",
    "src/gates/local.test.ts",
    "src/gates/local-audit.test.ts",
    "test/local-gate.conformance.test.ts",
  ],
  "src/gates/remote/await-hold.ts": ["src/gates/remote/held-calls.test.ts", "src/gates/remote/sign-plan.test.ts"],
  "src/gates/outbox/open-file.ts": ["src/gates/outbox/outbox.test.ts", "test/outbox-disk.test.ts"],
  "src/gates/outbox/store.ts": [
    "src/gates/outbox/outbox.test.ts",
    "src/gates/outbox/uploader.test.ts",
    "test/outbox-disk.test.ts",
  ],
  "src/gates/outbox/outbox.ts": ["src/gates/outbox/outbox-requests.test.ts", "src/gates/outbox/uploader.test.ts"],
  "src/gates/outbox/uploader.ts": ["src/gates/outbox/uploader-requests.test.ts"],
  "src/gates/outbox/uploads.ts": ["src/gates/outbox/outbox.test.ts", "src/gates/outbox/uploader.test.ts"],
  "src/gates/outbox/worker.ts": ["src/gates/outbox/outbox.test.ts", "src/gates/outbox/uploader.test.ts"],
};
/** And where a whole folder is tested from without. */
const TESTS_OF_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "src/gates": [
    "src/gates/local.test.ts",
    "src/gates/local-audit.test.ts",
    "src/gates/local-ledger.test.ts",
    "test/local-gate.conformance.test.ts",
  ],
  "src/gates/remote": ["src/gates/http-faults.test.ts", "test/server-gates.conformance.test.ts"],
  "src/gates/outbox": ["src/gates/outbox/outbox.test.ts", "src/gates/outbox/uploader.test.ts"],
};

/** The tests beside the file, or those that stand for them. */
export function testsBeside(file: string): string[] {
  const own = file.replace(/\.ts$/, ".test.ts");
  const more = TESTS[file] ?? (existsSync(own) ? [] : (TESTS_OF_FOLDERS[dirname(file)] ?? []));
  return [...(existsSync(own) ? [own] : []), ...more];
}
