import { type Command, Option } from "commander";
import type { AgentSettings } from "../../core/api/index.ts";
import { createAgent, disableAgent, listAgents, updateAgent } from "../../server/admin/agents.ts";
import { addCommand, addGroup, type CommandHost } from "../command.ts";
import { findAgent } from "../find-agent.ts";
import { createOperator } from "../operator.ts";
import { numberOption, readTitle } from "../options.ts";
import { printAgents } from "../output/print-lists.ts";
import { printable } from "../output/printable.ts";
import { readAll } from "../read-all.ts";

interface CreateOptions {
  readonly approvePlans?: boolean;
  readonly planTtl?: number;
  readonly planMaxAge?: number;
  readonly maxHolds?: number;
}

const YEAR_SECONDS = 31_536_000;

export function addAgentCommands(program: Command, host: CommandHost): void {
  const agent = addGroup(program, "agent", "the agents that sign plans with the server");
  addAgentCreate(agent, host);
  addAgentList(agent, host);
  addAgentDisable(agent, host);
  addAgentEnable(agent, host);
}

function addAgentCreate(agent: Command, host: CommandHost): void {
  addCommand<CreateOptions>(agent, host, {
    usage: "create <name>",
    summary: "make an agent",
    examples: ["agent create triage", "agent create payments --approve-plans --max-holds 5"],
    options: [
      new Option("--approve-plans", "a person sees each plan before it is signed"),
      numberOption("--plan-ttl <seconds>", "how long a plan token is valid (default: 900)", [1, YEAR_SECONDS]),
      numberOption("--plan-max-age <seconds>", "how long a plan can be renewed (default: 86400)", [1, YEAR_SECONDS]),
      numberOption("--max-holds <number>", "how many holds a plan may have (default: 20)", [0, 1000]),
    ],
    store: true,
    run: ({ args: [name = ""], options, io, withStore }) =>
      withStore(
        async (store) => {
          const operator = createOperator(store, io);
          const made = await createAgent(operator, { name: readTitle(name), settings: toSettings(options) });
          const next = `Next: intentlock key create --agent ${printable(made.name)} --owner EMAIL\n`;
          return { value: made, text: `Agent ${printable(made.name)} has the id ${made.agentId}.\n${next}` };
        },
        { create: true },
      ),
  });
}

function addAgentList(agent: Command, host: CommandHost): void {
  addCommand(agent, host, {
    usage: "list",
    summary: "list the agents",
    examples: ["agent list", "agent list --json"],
    store: true,
    run: ({ io, paint, withStore }) =>
      withStore(async (store) => {
        const operator = createOperator(store, io);
        const agents = await readAll(
          (query) => listAgents(operator, query),
          (part) => part.agents,
        );
        return { value: { agents }, text: printAgents(agents, paint) };
      }),
  });
}

function addAgentDisable(agent: Command, host: CommandHost): void {
  addCommand(agent, host, {
    usage: "disable <name>",
    summary: "disable an agent: none of its keys is accepted any more",
    examples: ["agent disable triage"],
    store: true,
    run: ({ args: [name = ""], io, withStore }) =>
      withStore(async (store) => {
        const { id } = await findAgent(store, name);
        const disabled = await disableAgent(createOperator(store, io), id);
        return { value: disabled, text: `Agent ${printable(disabled.name)} is disabled.\n` };
      }),
  });
}

function addAgentEnable(agent: Command, host: CommandHost): void {
  addCommand(agent, host, {
    usage: "enable <name>",
    summary: "enable an agent that was disabled",
    examples: ["agent enable triage"],
    store: true,
    run: ({ args: [name = ""], io, withStore }) =>
      withStore(async (store) => {
        const { id } = await findAgent(store, name);
        const enabled = await updateAgent(createOperator(store, io), id, { enabled: true });
        return { value: enabled, text: `Agent ${printable(enabled.name)} is in use.\n` };
      }),
  });
}

function toSettings({ approvePlans, planTtl, planMaxAge, maxHolds }: CreateOptions): AgentSettings {
  return {
    ...(approvePlans !== undefined && { approvePlans }),
    ...(planTtl !== undefined && { planTtlSeconds: planTtl }),
    ...(planMaxAge !== undefined && { planMaxAgeSeconds: planMaxAge }),
    ...(maxHolds !== undefined && { maxHolds }),
  };
}
