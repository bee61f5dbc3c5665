import { defineTool, type GuardTool } from "intentlock/guard";
import { z } from "zod";
import type { FakeGithub } from "../demo/fake-github.ts";

const repo = z.string().describe("owner/name");
const number = z.int().describe("of the issue");

/** The agent's tools. For a real GitHub, call its API here; nothing else changes. */
export function createGithubTools(github: FakeGithub): GuardTool[] {
  return [
    defineTool({
      name: "github_list_issues",
      description: "Lists the open issues of a repository",
      schema: z.object({ repo }),
      impl: ({ repo }) => github.listIssues(repo).map(({ number, title }) => ({ number, title })),
    }),
    defineTool({
      name: "github_get_issue",
      description: "Reads an issue",
      schema: z.object({ repo, number }),
      impl: ({ repo, number }) => github.getIssue(repo, number),
    }),
    defineTool({
      name: "github_add_label",
      description: "Adds a label to an issue",
      schema: z.object({ repo, number, label: z.string() }),
      impl: ({ repo, number, label }) => {
        github.getIssue(repo, number).labels.push(label);
        return "labelled";
      },
    }),
    defineTool({
      name: "github_post_comment",
      description: "Posts a comment on an issue",
      schema: z.object({ repo, number, body: z.string() }),
      impl: ({ repo, number, body }) => {
        github.getIssue(repo, number).comments.push(body);
        return "posted";
      },
    }),
    defineTool({
      name: "github_read_file",
      description: "Reads a file of a repository",
      schema: z.object({ repo, path: z.string() }),
      impl: ({ repo, path }) => github.readFile(repo, path),
    }),
  ];
}
