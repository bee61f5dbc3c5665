import { type ToolSet, tool } from "ai";
import { z } from "zod";
import type { FakeGithub } from "./fake-github.ts";

const repo = z.string().describe("owner/name");
const number = z.int().describe("of the issue");

/** The agent's tools, as for any app on the AI SDK. They do what they are told: nothing in them looks at who asks. */
export function createGithubTools(github: FakeGithub): ToolSet {
  return {
    github_list_issues: tool({
      description: "Lists the open issues of a repository",
      inputSchema: z.object({ repo }),
      execute: async ({ repo }) => github.listIssues(repo).map(({ number, title }) => ({ number, title })),
    }),
    github_get_issue: tool({
      description: "Reads an issue",
      inputSchema: z.object({ repo, number }),
      execute: async ({ repo, number }) => github.getIssue(repo, number),
    }),
    github_add_label: tool({
      description: "Adds a label to an issue",
      inputSchema: z.object({ repo, number, label: z.string() }),
      execute: async ({ repo, number, label }) => {
        github.getIssue(repo, number).labels.push(label);
        return "labelled";
      },
    }),
    github_post_comment: tool({
      description: "Posts a comment on an issue",
      inputSchema: z.object({ repo, number, body: z.string() }),
      execute: async ({ repo, number, body }) => {
        github.getIssue(repo, number).comments.push(body);
        return "posted";
      },
    }),
    github_read_file: tool({
      description: "Reads a file of a repository",
      inputSchema: z.object({ repo, path: z.string() }),
      execute: async ({ repo, path }) => github.readFile(repo, path),
    }),
  };
}
