import { CORE } from "./judged/core.ts";
import { GATES } from "./judged/gates.ts";
import { OUTBOX } from "./judged/outbox.ts";
import { REMOTE } from "./judged/remote.ts";
import { SESSION } from "./judged/session.ts";
import type { Judgement } from "./judgements.ts";

export const JUDGED: readonly Judgement[] = [...CORE, ...SESSION, ...GATES, ...REMOTE, ...OUTBOX];
