import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { chat } from '../endpoints/openai.ts';
import type { History } from './planned-session.ts';
import { sessions } from './sessions.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sessions-'));
});
afterAll(() => rm(folder, { recursive: true }));

const call = { id: 'call_1', type: 'function', function: { name: 'grep', arguments: '{"word":"x"}' } };
/** A parent that calls a tool, with an agent beside it, and goes on when both have ended. */
const SESSION = {
  session_id: 's1',
  requests: [
    {
      ...{ id: 'plan', agent: 'main', start_ms: 1000, output_length: 20 },
      tools: [{ type: 'function', function: { name: 'grep' } }],
      messages: [
        { role: 'developer', content: 'be brief' },
        { role: 'user', content: 'find x' },
      ],
      answer: { role: 'assistant', content: null, tool_calls: [call] },
    },
    {
      ...{ id: 'look', agent: 'explorer', after: ['plan'], messages: [{ role: 'user', content: 'look' }] },
      answer: 'seen',
    },
    {
      ...{ id: 'end', agent: 'main', continues: 'plan', after: ['plan', 'look'], tool_ms: 250, think_ms: 100 },
      start_ms: 4500,
      messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'x is here' }],
    },
  ],
};

async function opened(content: unknown = SESSION, history: History = 'recorded') {
  const file = join(folder, 'sessions.jsonl');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  const options = {
    outputTokens: 64,
    seed: 1,
    strategy: 'sequential' as const,
    tokenizer: null,
    delayRatio: 2,
    delayCapSeconds: null,
  };
  return sessions('sessions', { ...options, file, history, blockTokens: null });
}

const messagesOf = (request: Parameters<typeof chat.body>[0]): unknown =>
  (JSON.parse(chat.body(request, { model: 'm', sampling: {}, includeUsage: false })) as { messages: unknown }).messages;

describe('sessions of agents', () => {
  test('a file of more sessions than a call may have arguments', async () => {
    const line = JSON.stringify({ requests: [{ messages: [{ role: 'user', content: 'hi' }] }] });
    expect((await opened(`${line}\n`.repeat(130_000))).size).toBe(130_000);
  });

  test('the graph, its pauses, agents and recorded times', async () => {
    const session = (await opened()).conversation?.('measure', 0);
    expect(session?.requests).toBe(3);
    expect([0, 1, 2].map((number) => session?.place(number))).toEqual([
      { after: [], thinkSeconds: 0, toolSeconds: null, turn: 1, agent: 1, recordedSeconds: 0 },
      { after: [0], thinkSeconds: 0, toolSeconds: null, turn: 1, agent: 2, recordedSeconds: null },
      // The user's pause has the factor of --session-delay-ratio, the tool's time has not.
      { after: [0, 1], thinkSeconds: 0.2, toolSeconds: 0.25, turn: 2, agent: 1, recordedSeconds: 3.5 },
    ]);
  });

  test('tools and their calls are sent as recorded, in roles of their own', async () => {
    const dataset = await opened();
    const session = dataset.conversation?.('measure', 0);
    const last = session?.request(2, ['I call grep', 'other']) ?? { prompt: '', max_tokens: 1 };
    expect(messagesOf(last)).toEqual([
      { role: 'developer', content: 'be brief' },
      { role: 'user', content: 'find x' },
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'x is here' },
    ]);
    const first = session?.request(0, []) ?? last;
    expect([first.max_tokens, last.max_tokens]).toEqual([20, 64]);
    expect(JSON.parse(chat.body(first, { model: 'm', sampling: {}, includeUsage: false }))).toEqual({
      ...{ model: 'm', max_tokens: 20, stream: true, tools: [{ type: 'function', function: { name: 'grep' } }] },
      messages: [
        { role: 'developer', content: 'be brief' },
        { role: 'user', content: 'find x' },
      ],
    });
    expect(messagesOf(session?.request(1, ['I call grep']) ?? last)).toEqual([{ role: 'user', content: 'look' }]);
  });

  test("--history live: the server's text, with the recorded calls that the results answer", async () => {
    const session = (await opened(SESSION, 'live')).conversation?.('measure', 0);
    expect(messagesOf(session?.request(2, ['I call grep']) ?? { prompt: '', max_tokens: 1 })).toContainEqual({
      ...{ role: 'assistant', content: 'I call grep', tool_calls: [call] },
    });
    expect((await opened(SESSION, 'live')).planSha256).not.toBe((await opened()).planSha256);
  });

  test.each([
    [{ requests: [] }, ':1: requests must be a non-empty list'],
    [{ requests: [{ messages: [{ role: 'robot', content: 'a' }] }] }, 'messages[0]: role must be one of system,'],
    [
      { requests: [{ id: 'a', after: ['b'], messages: [{ role: 'user', content: 'a' }] }] },
      "requests[0]: after is 'b' and must be the id of an earlier request",
    ],
    [
      { requests: [{ messages: [{ role: 'tool', content: 'a' }] }] },
      'tool_call_id is required in messages of the role tool alone',
    ],
  ])('%j is refused', async (content, problem) => {
    await expect(opened(content)).rejects.toThrow(problem);
  });

  test('the schema accepts what is read', async () => {
    const path = new URL('../../../schemas/session.schema.json', import.meta.url);
    const valid = new Ajv2020().compile(JSON.parse(await readFile(path, 'utf8')) as object);
    expect([valid(SESSION), valid.errors]).toEqual([true, null]);
    expect(valid({ requests: [{ messages: [{ role: 'robot', content: 'a' }] }] })).toBe(false);
  });
});
