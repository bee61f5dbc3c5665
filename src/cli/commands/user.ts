import { type Command, Option } from "commander";
import type { Role } from "../../core/index.ts";
import { listPeople, removePerson, savePerson } from "../../server/admin/people.ts";
import { createSignInLink, LINK_MS } from "../../server/people/sign-in.ts";
import type { Store } from "../../server/store/index.ts";
import { addCommand, addGroup, type CommandHost } from "../command.ts";
import { CliError } from "../exit-codes.ts";
import { createOperator } from "../operator.ts";
import { listOption, oneOf, parseTitle, publicUrlOption, readEmail } from "../options.ts";
import { printPeople } from "../output/print-lists.ts";
import { printable } from "../output/printable.ts";
import { printNames } from "../output/words.ts";
import { readAll } from "../read-all.ts";

const ROLES: readonly Role[] = ["admin", "approver", "member"];

interface AddOptions {
  readonly role?: readonly Role[];
  readonly group?: readonly string[];
  readonly name?: string;
}

export function addUserCommands(program: Command, host: CommandHost): void {
  const user = addGroup(program, "user", "the people that agents act for, that approve, and that administer");
  addUserAdd(user, host);
  addUserList(user, host);
  addUserLink(user, host);
  addUserRemove(user, host);
}

function addUserAdd(user: Command, host: CommandHost): void {
  addCommand<AddOptions>(user, host, {
    usage: "add <email>",
    summary: "add a person, or change one that there is",
    details: "Roles that are given replace those that there were, and so do groups; what is not given stays.",
    examples: ["user add alice@example.com --role member --group support", "user add bob@example.com --role approver"],
    options: [
      listOption(
        "--role <role>",
        `${ROLES.join(", ")}; may be given several times (a new person: member)`,
        oneOf(ROLES),
      ),
      listOption("--group <name>", "may be given several times", parseTitle),
      new Option("--name <name>", "what they are called").argParser(parseTitle),
    ],
    store: true,
    run: ({ args: [email = ""], options, io, withStore }) =>
      withStore(
        async (store) => {
          const given = readEmail(email);
          // What is not given stays: nobody loses a role by being added again.
          const known = await store.people.get(given);
          const { role: roles = known?.roles ?? ["member"], group: groups = known?.groups ?? [] } = options;
          const name = options.name ?? known?.name ?? undefined;
          const body = {
            roles: [...new Set(roles)],
            groups: [...new Set(groups)],
            ...(name !== undefined && { name }),
          };
          const person = await savePerson(createOperator(store, io), { email: given, ...body });
          return { value: person, text: `${printable(person.email)} is ${printNames(person.roles)}.\n` };
        },
        { create: true },
      ),
  });
}

function addUserList(user: Command, host: CommandHost): void {
  addCommand(user, host, {
    usage: "list",
    summary: "list the people",
    examples: ["user list"],
    store: true,
    run: ({ io, paint, withStore }) =>
      withStore(async (store) => {
        const people = await readAll(
          (query) => listPeople(createOperator(store, io), query),
          (part) => part.people,
        );
        return { value: { people }, text: printPeople(people, paint) };
      }),
  });
}

function addUserLink(user: Command, host: CommandHost): void {
  addCommand<{ readonly publicUrl?: string }>(user, host, {
    usage: "link <email>",
    summary: "print a link that signs a person in, once",
    details: "Whoever opens it first is that person: send it over a way that only they read.",
    examples: ["user link bob@example.com", "user link bob@example.com --public-url https://lock.example.com"],
    options: [publicUrlOption()],
    store: true,
    run: ({ args: [email = ""], options, io, withStore }) =>
      withStore(async (store) => {
        const operator = createOperator(store, io, options.publicUrl);
        await requirePerson(store, email);
        const { url: link } = await createSignInLink(operator, readEmail(email));
        return { value: { email: readEmail(email), link, expiresInSeconds: LINK_MS / 1000 }, text: `${link}\n` };
      }),
  });
}

function addUserRemove(user: Command, host: CommandHost): void {
  addCommand(user, host, {
    usage: "remove <email>",
    summary: "remove a person: no agent acts for them, and their sessions end",
    examples: ["user remove alice@example.com"],
    store: true,
    run: ({ args: [email = ""], io, withStore }) =>
      withStore(async (store) => {
        await requirePerson(store, email);
        await removePerson(createOperator(store, io), readEmail(email));
        return { value: { removed: true }, text: `${printable(readEmail(email))} is removed.\n` };
      }),
  });
}

/** @throws CliError `ERR_USAGE`, `ERR_NOT_FOUND` */
async function requirePerson(store: Store, given: string): Promise<void> {
  const email = readEmail(given);
  if (await store.people.get(email)) return;
  throw new CliError("ERR_NOT_FOUND", `Nobody here is ${printable(email)}. See the people with: intentlock user list`);
}
