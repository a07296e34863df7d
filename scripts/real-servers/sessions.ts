import type { RequestRecord } from '../../core/run/record.ts';

const PAUSE_MS = 40;
const EXPLORERS = 3;
/** Requests of a session: of the main agent, and two of each explorer. */
export const SESSION_REQUESTS = 3 + 2 * EXPLORERS;

/** A file of sessions: a main agent calls explorers beside each other, of two turns each, waits for all, and goes on. */
export function sessionFile(count: number): string {
  return Array.from({ length: count }, (_, session) => JSON.stringify({ requests: requestsOf(session) })).join('\n');
}

function requestsOf(session: number): object[] {
  const words = (length: number, name: string): string => Array.from({ length }, (_, i) => `${name}${i}`).join(' ');
  const user = (length: number, name: string) => ({ role: 'user', content: words(length, `${name}${session}`) });
  const system = (name: string) => ({ role: 'system', content: words(60, name) });
  const explorers = Array.from({ length: EXPLORERS }, (_, i) => `explorer${i}`);
  return [
    { id: 'plan', agent: 'main', messages: [system('main'), user(30, 'task')], answer: words(12, 'plan') },
    ...explorers.flatMap((agent) => [
      {
        ...{ id: `${agent}a`, agent, after: ['plan'], tool_ms: PAUSE_MS },
        ...{ messages: [system('explorer'), user(20, agent)], answer: words(8, agent) },
      },
      { id: `${agent}b`, agent, continues: `${agent}a`, think_ms: PAUSE_MS, messages: [user(10, 'more')] },
    ]),
    {
      ...{ id: 'join', agent: 'main', continues: 'plan', after: ['plan', ...explorers.map((agent) => `${agent}b`)] },
      ...{ tool_ms: PAUSE_MS, messages: [user(40, 'found')] },
    },
    { id: 'end', agent: 'main', continues: 'join', think_ms: PAUSE_MS, messages: [user(10, 'end')] },
  ];
}

/** How many requests of these sessions were sent before those that they wait for had ended, and their pause. */
export function sentEarly(records: readonly RequestRecord[]): number {
  const sessions = Map.groupBy(records, ({ conversation }) => conversation);
  return [...sessions.values()].flatMap((session) => session.filter((record) => isEarly(record, session))).length;
}

function isEarly(record: RequestRecord, session: readonly RequestRecord[]): boolean {
  const after = session.filter((other) => other !== record && waitsFor(record, other));
  return after.some(({ end_ns }) => record.sent_ns < end_ns + PAUSE_MS * 1e6);
}

const MAIN = 1;

function waitsFor(record: RequestRecord, other: RequestRecord): boolean {
  const [turn, before] = [record.turn ?? NaN, other.turn ?? NaN];
  if (record.agent === other.agent) return before < turn;
  // The explorers wait for the plan of the main agent, and its next request waits for them.
  return record.agent === MAIN ? turn > 1 : other.agent === MAIN && before === 1;
}
