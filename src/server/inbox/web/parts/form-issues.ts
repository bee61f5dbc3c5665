import type { Issue } from "../../../../core/errors.ts";
import { ApiError } from "../api.ts";

/** What is wrong with one field, or with something in it; undefined if nothing is. */
export function findIssue(issues: readonly Issue[], path: string): string | undefined {
  const found = issues.filter((issue) => isAt(issue, path));
  if (found.length === 0) return undefined;
  return found.map((issue) => (issue.path === path ? issue.message : `${issue.path}: ${issue.message}`)).join("; ");
}

/** An error without the issues that stand at their fields; undefined if nothing is left to say. */
export function withoutIssuesAt(error: ApiError, paths: readonly string[]): ApiError | undefined {
  const issues = error.issues.filter((issue) => !paths.some((path) => isAt(issue, path)));
  if (issues.length === error.issues.length) return error;
  if (issues.length === 0) return undefined;
  const { message: title, code, status } = error;
  return new ApiError({ code, title, status, issues });
}

/** The page's own refusal of a form, which has not been sent. */
export function refuse(issues: readonly Issue[]): ApiError {
  return new ApiError({ code: "invalid_request", title: "Some fields have to be corrected", issues });
}

function isAt(issue: Issue, path: string): boolean {
  return issue.path === path || issue.path.startsWith(`${path}.`) || issue.path.startsWith(`${path}[`);
}
