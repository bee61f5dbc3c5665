import { type Command, Option } from "commander";
import { createKey, listKeys, revokeKey } from "../../server/admin/keys.ts";
import { addCommand, addGroup, type CommandHost } from "../command.ts";
import { CliError } from "../exit-codes.ts";
import { findAgent } from "../find-agent.ts";
import { createOperator } from "../operator.ts";
import { listOption, parseEmail, parseTitle } from "../options.ts";
import { printKeys } from "../output/print-lists.ts";
import { printable } from "../output/printable.ts";
import { readAll } from "../read-all.ts";

interface CreateOptions {
  readonly agent: string;
  readonly owner: string;
  readonly actsFor?: readonly string[];
  readonly name?: string;
}

export function addKeyCommands(program: Command, host: CommandHost): void {
  const key = addGroup(program, "key", "the API keys of agents");
  addKeyCreate(key, host);
  addKeyList(key, host);
  addKeyRevoke(key, host);
}

function addKeyCreate(key: Command, host: CommandHost): void {
  addCommand<CreateOptions>(key, host, {
    usage: "create",
    summary: "make an API key and show it, once",
    details: "The key alone is on the standard output. The server keeps its hash: whoever loses it makes another.",
    examples: [
      "key create --agent triage --owner you@example.com",
      "key create --agent triage --owner you@example.com --acts-for alice@example.com",
    ],
    options: [
      new Option("--agent <name>", "whose key it is").makeOptionMandatory(),
      new Option("--owner <email>", "who answers for it; a person that the server knows")
        .argParser(parseEmail)
        .makeOptionMandatory(),
      listOption("--acts-for <email>", "a person that it may act for; several times (default: everybody)", parseEmail),
      new Option("--name <name>", "what people call it").argParser(parseTitle),
    ],
    store: true,
    run: ({ options: { agent, owner, actsFor, name }, io, json, withStore }) =>
      withStore(async (store) => {
        const { id, name: agentName } = await findAgent(store, agent);
        const body = { owner, ...(actsFor && { actsFor }), ...(name !== undefined && { name }) };
        const made = await createKey(createOperator(store, io), id, body);
        const note = `Key ${made.keyId} of ${printable(agentName)}. It is not shown again:\n`;
        if (!json) io.stderr.write(note);
        return { value: made, text: `${made.key}\n` };
      }),
  });
}

function addKeyList(key: Command, host: CommandHost): void {
  addCommand<{ readonly agent?: string }>(key, host, {
    usage: "list",
    summary: "list API keys, without the keys",
    examples: ["key list", "key list --agent triage"],
    options: [new Option("--agent <name>", "only this agent's")],
    store: true,
    run: ({ options, io, paint, withStore }) =>
      withStore(async (store) => {
        const operator = createOperator(store, io);
        const agents =
          options.agent === undefined ? await store.agents.list() : [await findAgent(store, options.agent)];
        const names = new Map(agents.map(({ id, name }) => [id, name]));
        const lists = [];
        for (const id of names.keys()) {
          const list = readAll(
            (query) => listKeys(operator, id, query),
            (part) => part.keys,
          );
          lists.push(await list);
        }
        const keys = lists.flat();
        return { value: { keys }, text: printKeys(keys, names, paint) };
      }),
  });
}

function addKeyRevoke(key: Command, host: CommandHost): void {
  addCommand(key, host, {
    usage: "revoke <id>",
    summary: "revoke an API key, for good",
    examples: ["key revoke KEY_ID"],
    store: true,
    run: ({ args: [id = ""], io, withStore }) =>
      withStore(async (store) => {
        if (!(await store.apiKeys.get(id))) {
          throw new CliError("ERR_NOT_FOUND", `There is no key ${printable(id)}. See them with: intentlock key list`);
        }
        const revoked = await revokeKey(createOperator(store, io), id);
        return { value: revoked, text: `Key ${printable(revoked.keyId)} is revoked.\n` };
      }),
  });
}
