import { expect, test } from '@jest/globals';
import type { RequestRecord } from '../../core/run/record.ts';
import { sentEarly, sessionFile, SESSION_REQUESTS } from './sessions.ts';

const MS = 1e6;
const record = (agent: number, turn: number, sent_ms: number, end_ms: number) =>
  ({ conversation: 0, agent, turn, sent_ns: sent_ms * MS, end_ns: end_ms * MS }) as RequestRecord;

test('explorers wait for the plan, the main agent waits for all of them', () => {
  const plan = record(1, 1, 0, 100);
  const explorers = [record(2, 1, 140, 200), record(2, 2, 240, 300), record(3, 1, 141, 400), record(3, 2, 440, 500)];
  expect(sentEarly([plan, ...explorers, record(1, 2, 540, 600), record(1, 3, 640, 700)])).toBe(0);
  // Before the last explorer's end and the pause; within the pause of its own agent.
  expect(sentEarly([plan, ...explorers, record(1, 2, 539, 600), record(1, 3, 639, 700)])).toBe(2);
  expect(sentEarly([plan, record(2, 1, 139, 200)])).toBe(1);
});

test('each session has its requests', () => {
  const sessions = sessionFile(3)
    .split('\n')
    .map((line) => JSON.parse(line) as { requests: unknown[] });
  expect(sessions.map(({ requests }) => requests.length)).toEqual(Array(3).fill(SESSION_REQUESTS));
});
