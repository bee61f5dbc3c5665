import type { Command } from "commander";
import { listSigningKeys, rotateSigningKey } from "../../server/admin/signing-keys.ts";
import { addCommand, addGroup, type CommandHost } from "../command.ts";
import { createOperator } from "../operator.ts";
import { printSigningKeys } from "../output/print-lists.ts";
import { printable } from "../output/printable.ts";

export function addSigningKeyCommands(program: Command, host: CommandHost): void {
  const signingKey = addGroup(program, "signing-key", "the keys with which the server signs plan tokens");
  addCommand(signingKey, host, {
    usage: "list",
    summary: "list the signing keys, without their private halves",
    examples: ["signing-key list"],
    store: true,
    run: ({ io, paint, withStore }) =>
      withStore(async (store) => {
        const answer = await listSigningKeys(createOperator(store, io));
        return { value: answer, text: printSigningKeys(answer.keys, paint) };
      }),
  });
  addCommand(signingKey, host, {
    usage: "rotate",
    summary: "make a new signing key, and retire the others once nothing that they have signed counts any more",
    examples: ["signing-key rotate"],
    store: true,
    run: ({ io, withStore }) =>
      withStore(async (store) => {
        const made = await rotateSigningKey(createOperator(store, io));
        return {
          value: made,
          text: `Key ${printable(made.kid)} is published, and signs from now on or a little later.\n`,
        };
      }),
  });
}
