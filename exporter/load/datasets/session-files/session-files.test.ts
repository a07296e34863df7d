import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chat } from '../../endpoints/openai.ts';
import type { Dataset } from '../dataset.ts';
import { detectFileType } from '../detect-file-type.ts';
import { openDataset, type FileType } from '../open-dataset.ts';
import type { History } from '../planned-session.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'session-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Opened as it is recognized, which is the expected type. */
async function opened(type: FileType, text: string, history: History = 'recorded'): Promise<Dataset> {
  const path = join(folder, 'input.jsonl');
  await writeFile(path, text);
  expect(detectFileType(path)).toBe(type);
  const file = { path, type, history, strategy: 'sequential', blockTokens: null, delayRatio: 1 } as const;
  return openDataset(
    {
      file,
      inputTokens: null,
      outputTokens: null,
      seed: 1,
      repeat: 0,
      synthetic: { conversations: null, entries: null },
    },
    null,
  );
}

const lines = (...documents: readonly object[]): string => documents.map((each) => JSON.stringify(each)).join('\n');

/** The numbers that each request waits for, its agent, and its pauses of users and tools in seconds. */
const graphOf = (dataset: Dataset, position = 0) => {
  const session = dataset.conversation?.('measure', position);
  return Array.from({ length: session?.requests ?? 0 }, (_, i) => {
    const place = session?.place(i);
    return [place?.after, place?.agent, place?.thinkSeconds, place?.toolSeconds];
  });
};

const messagesOf = (dataset: Dataset, number: number, responses: readonly string[] = [], position = 0): unknown => {
  const request = dataset.conversation?.('measure', position).request(number, responses);
  if (request === undefined) return null;
  return (JSON.parse(chat.body(request, { model: 'm', sampling: {}, includeUsage: false })) as { messages: unknown })
    .messages;
};

const said = (content: string) => ({ role: 'user', content });
const answer = (content: string) => ({ role: 'assistant', content });

describe("AIPerf's dag_jsonl", () => {
  const DAG = lines(
    {
      session_id: 'main',
      turns: [
        { messages: [said('plan')], max_tokens: 9, spawns: ['look', { children: ['read'], join_at: 2 }] },
        { messages: [said('between')], delay: 500, extra: { temperature: 0 } },
        { messages: [said('end')], forks: ['fork'] },
      ],
    },
    { session_id: 'look', turns: [{ messages: [said('look')] }, { messages: [said('closer')] }] },
    { session_id: 'read', turns: [{ messages: [said('read')] }] },
    { session_id: 'fork', turns: [{ messages: [said('fork')] }] },
  );

  test('spawns run beside the turns until the one that joins them; forks continue', async () => {
    const dataset = await opened('dag_jsonl', DAG);
    expect(dataset.size).toBe(1);
    expect(graphOf(dataset)).toEqual([
      [[], 1, 0, null],
      [[0], 2, 0, null],
      [[1], 2, 0, null],
      [[0], 3, 0, null],
      // 'look' joins at the next turn, 'read' at the one after it.
      [[0, 2], 1, 0.5, null],
      [[4, 3], 1, 0, null],
      [[5], 4, 0, null],
    ]);
    const answers = ['P', 'L', 'C', 'R', 'B', 'E'];
    expect(messagesOf(dataset, 2, answers)).toEqual([said('look'), answer('L'), said('closer')]);
    const before = [said('plan'), answer('P'), said('between'), answer('B'), said('end')];
    expect(messagesOf(dataset, 6, answers)).toEqual([...before, answer('E'), said('fork')]);
    const session = dataset.conversation?.('measure', 0);
    expect(session?.request(0, []).max_tokens).toBe(9);
    expect(session?.request(4, []).extra).toEqual({ temperature: 0 });
  });

  test('rounds of an orchestrator wait for the round before', async () => {
    const rounds = [{ spawns: ['a', 'b'] }, { spawns: ['c'], think_time_ms: 250 }];
    const turns = (text: string) => [{ messages: [said(text)] }];
    const dataset = await opened(
      'dag_jsonl',
      lines(
        { session_id: 'o', orchestrator: true, rounds, think_time_ms: 100 },
        ...['a', 'b', 'c'].map((session_id) => ({ session_id, turns: turns(session_id) })),
      ),
    );
    expect(graphOf(dataset)).toEqual([
      [[], 1, 0.1, null],
      [[], 2, 0.1, null],
      [[0, 1], 3, 0.25, null],
    ]);
  });

  test.each([
    [{ turns: [{ messages: [said('a')], spawns: ['b'] }] }, ":1: turns[0]: 'b' is not the session_id of a line"],
    [{ turns: [{ messages: [said('a')], spawns: ['a'] }] }, ':1: every conversation is started by another one'],
    [
      { turns: [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }] },
      'messages[0]: content must be text',
    ],
  ])('%j is refused', async (row, problem) => {
    await expect(opened('dag_jsonl', lines({ session_id: 'a', ...row }))).rejects.toThrow(problem);
  });
});

describe("AIPerf's dag_jsonl that would have no end", () => {
  const turns = (spawns: readonly string[]) => [{ messages: [said('x')], spawns }];
  const doubling = Array.from({ length: 40 }, (_, i) => ({
    session_id: `s${i}`,
    turns: turns(i === 39 ? [] : [`s${i + 1}`, `s${i + 1}`]),
  }));
  const rounds = [
    { session_id: 'o', orchestrator: true, rounds: 1e6, spawns: ['a'] },
    { session_id: 'a', turns: turns([]) },
  ];
  test.each([
    ['each conversation starts another one twice', doubling],
    ['a million rounds', rounds],
  ])('%s', async (_, rows) => {
    await expect(opened('dag_jsonl', lines(...rows))).rejects.toThrow(/a session has more than 10000 requests/);
  });

  test.each([0, 5])('a turn that joins at %i', async (joinAt) => {
    const row = {
      session_id: 'a',
      turns: [{ messages: [said('1')], spawns: [{ children: ['b'], join_at: joinAt }] }, { messages: [said('2')] }],
    };
    await expect(opened('dag_jsonl', lines(row, { session_id: 'b', turns: turns([]) }))).rejects.toThrow(
      `:1: turns[0]: join_at is ${joinAt} and must be a later turn of the conversation: 1 to 1`,
    );
  });
});

describe('a Mooncake trace with sessions', () => {
  test('lengths and texts follow what was said; blocks and messages are whole prompts', async () => {
    const dataset = await opened(
      'mooncake_trace',
      lines(
        { session_id: 'a', timestamp: 1000, text_input: 'Hi', output_length: 7 },
        { session_id: 'b', timestamp: 2000, input_length: 4, hash_ids: [1, 2] },
        { session_id: 'a', timestamp: 3500, text_input: 'And now?' },
        { session_id: 'a', delay: 40, messages: [said('all of it')] },
        { session_id: 'b', delay: 2, input_length: 3, hash_ids: [1] },
      ).replaceAll('"input_length":4', '"input_length":600'),
    );
    expect(dataset.size).toBe(2);
    // --fixed-schedule begins them at these times.
    expect(dataset.due_ns).toEqual(Float64Array.of(1e9, 2e9));
    expect(graphOf(dataset)).toEqual([
      [[], null, 0, null],
      [[0], null, 2.5, null],
      [[1], null, 0.04, null],
    ]);
    expect(messagesOf(dataset, 1, ['Hello'])).toEqual([said('Hi'), answer('Hello'), said('And now?')]);
    expect(messagesOf(dataset, 2, ['Hello', 'Now'])).toEqual([said('all of it')]);
    const [[first], [second]] = [0, 1].map(
      (number) => messagesOf(dataset, number, ['x'], 1) as { content: string }[],
    ) as [[{ content: string }], [{ content: string }]];
    expect([first.content.split(' ').length, second.content.split(' ').length]).toEqual([600, 3]);
    expect(first.content.startsWith(second.content)).toBe(true);
  });
});

/** OTLP's list of attributes. */
const attributes = (values: Readonly<Record<string, string | number>>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }));

/** Times in seconds. */
const span = (
  spanId: string,
  parentSpanId: string,
  start: number,
  end: number,
  values: Record<string, string | number>,
) => ({
  ...{ traceId: 't1', spanId, parentSpanId, name: 'x' },
  startTimeUnixNano: String(BigInt(start * 1000) * 1_000_000n),
  endTimeUnixNano: String(BigInt(end * 1000) * 1_000_000n),
  attributes: attributes(values),
});

const text = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });

const chatSpan = (id: string, parent: string, start: number, end: number, input: readonly object[]) =>
  span(id, parent, start, end, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.usage.output_tokens': 5,
    'gen_ai.input.messages': JSON.stringify(input),
  });

describe("Dynamo's agentic Mooncake traces", () => {
  const HEAD = {
    ...{ schema: 'dynamo.agentic_mooncake', version: 2, block_size: 64, hash_id_scope: 'local' },
    source: { format: 'weka', digest: 'd' },
  };
  const row = (
    request_id: string,
    session_id: string,
    not_before_ms: number,
    dependencies: readonly object[] = [],
  ) => ({
    ...{ request_id, play_id: 'play', session_id, model: 'm', input_length: 128, output_length: 0, hash_ids: [1, 2] },
    ...{ not_before_ms, recorded_api_time_ms: 100, dependencies },
  });
  const edge = (request_id: string, delay_ms: number, trigger = 'completion', relation = 'sequence') => ({
    ...{ request_id, trigger, delay_ms, relation },
  });

  test('of version 2: plays with typed edges, whose delays count from the one that decides', async () => {
    const rows = [
      HEAD,
      row('root', 'main', 1000),
      row('spawned', 'child', 1040, [edge('root', 40, 'dispatch', 'spawn')]),
      // The root ended at 100, the child at 140: 30 + 140 is later than 50 + 100.
      row('join', 'main', 1170, [edge('root', 50), edge('spawned', 30, 'completion', 'join')]),
      // 500 + 100 is later than 10 + 270, and 330 after the later end.
      row('late', 'main', 1600, [edge('root', 500), edge('join', 10)]),
      row('alone', 'other', 1300),
      { ...row('second', 'main', 5000), play_id: 'another' },
    ];
    const dataset = await opened('agentic_mooncake', lines(...rows));
    expect(dataset.size).toBe(2);
    expect(graphOf(dataset)).toEqual([
      [[], 1, 0, null],
      [[], 2, 0.04, null],
      [[0, 1], 1, 0.03, null],
      [[0, 2], 1, 0.33, null],
      [[], 3, 0.3, null],
    ]);
    expect([...(dataset.due_ns ?? [])]).toEqual([1e9, 5e9]);
    const request = dataset.conversation?.('measure', 0).request(2, []);
    expect(request?.max_tokens).toBe(1);
    const texts = [0, 1].map((position) => messagesOf(dataset, 0, [], position) as [{ content: string }]);
    expect(texts.map(([{ content }]) => content.split(' ').length)).toEqual([128, 128]);
    // Ids of blocks are those of the play.
    expect(texts[0]?.[0].content).not.toBe(texts[1]?.[0].content);
  });

  test('without a head: requests that are linked are a session', async () => {
    const linked = (request_id: string, session_id: string, more: object) => ({
      ...{ request_id, session_id, input_length: 70, output_length: 5, hash_ids: [1, 2] },
      ...more,
    });
    const rows = [
      linked('a', 'main', { timestamp: 0, prefix_reset: true, branches: ['b'] }),
      linked('b', 'child', { wait_for: ['a'], delay: 20, prefix_reset: true }),
      linked('c', 'main', { wait_for: ['a', 'b'], delay: 10, tool_wait_ms: 2500 }),
      linked('d', 'other', { timestamp: 700, prefix_reset: true }),
    ];
    const dataset = await opened('agentic_mooncake', lines(...rows));
    expect(dataset.size).toBe(2);
    expect(graphOf(dataset)).toEqual([
      [[], 1, 0, null],
      [[0], 2, 0.02, null],
      [[0, 1], 1, 0.01, 2.5],
    ]);
    expect([...(dataset.due_ns ?? [])]).toEqual([0, 0.7e9]);
    // Ids of blocks are those of the file.
    expect(messagesOf(dataset, 0)).not.toBeNull();
    expect(dataset.shared?.('measure', 1)[0]?.segments[0]).toEqual(dataset.shared?.('measure', 0)[0]?.segments[0]);
  });

  test.each([
    [{ ...HEAD, version: 3 }, row('a', 's', 0), ':1: version 3 of dynamo.agentic_mooncake is not supported: 2 is'],
    [HEAD, row('a', 's', 0, [edge('b', 0)]), ":2: it waits for 'b', which is no request of its session"],
    [HEAD, row('a', 's', 0, [edge('a', 0)]), ":2: request_id is 'a', and it waits for itself"],
    [{ ...HEAD, block_size: undefined }, row('a', 's', 0), ':1: block_size is missing'],
  ])('%j', async (head, only, message) => {
    await expect(opened('agentic_mooncake', lines(head, only))).rejects.toThrow(message);
  });
});

describe('spans of OpenTelemetry', () => {
  const asked = text('user', 'Weather in Paris?');
  const called = {
    role: 'assistant',
    parts: [{ type: 'tool_call', id: 'c1', name: 'get_weather', arguments: { location: 'Paris' } }],
  };
  const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'rainy, 57°F' }] };
  const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'main' };
  const SPANS = [
    span('root', '', 100, 120, agent),
    chatSpan('one', 'root', 100, 102, [asked]),
    span('sub', 'root', 102.5, 110, { ...agent, 'gen_ai.agent.name': 'sub' }),
    chatSpan('in a', 'sub', 103, 105, [text('user', 'a')]),
    chatSpan('in b', 'sub', 105.5, 109, [text('user', 'b')]),
    span('tool', 'root', 102, 109.5, { 'gen_ai.operation.name': 'execute_tool' }),
    chatSpan('two', 'root', 110.5, 112, [asked, called, result]),
  ];
  const OTLP = { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans: SPANS }] }] };

  test.each([
    ['a line', JSON.stringify(OTLP)],
    ['several lines', JSON.stringify(OTLP, null, 2)],
  ])('requests wait for what had ended, and agents for those they called, in %s', async (_, content) => {
    const dataset = await opened('otel_spans', content);
    expect(graphOf(dataset)).toEqual([
      [[], 1, 0, null],
      [[0], 2, 1, null],
      [[1], 2, 0.5, null],
      // The agent's last request ended 1.5 s before.
      [[2], 1, 0, 1.5],
    ]);
    expect(dataset.hasTools).toBe(true);
    const call = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"location":"Paris"}' } };
    expect(messagesOf(dataset, 3, ['live'])).toEqual([
      said('Weather in Paris?'),
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'rainy, 57°F' },
    ]);
    expect(dataset.conversation?.('measure', 0).request(0, []).max_tokens).toBe(5);
  });

  test('a request that repeats an earlier one with its answer continues it: --history live', async () => {
    const turns = [
      chatSpan('one', '', 100, 101, [text('user', 'Hi')]),
      chatSpan('two', '', 102, 103, [text('user', 'Hi'), text('assistant', 'Hello'), text('user', 'And now?')]),
    ];
    const dataset = await opened('otel_spans', JSON.stringify({ spans: turns }), 'live');
    expect(messagesOf(dataset, 1, ['Good day'])).toEqual([said('Hi'), answer('Good day'), said('And now?')]);
  });

  test.each([
    ['of itself', [chatSpan('one', 'one', 100, 101, [text('user', 'Hi')])]],
    [
      'of its own parent',
      [chatSpan('one', 'two', 100, 101, [text('user', 'Hi')]), span('two', 'one', 100, 101, { ...agent })],
    ],
  ])('a span that is the child %s is read', async (_, spans) => {
    expect(graphOf(await opened('otel_spans', JSON.stringify({ spans })))).toHaveLength(1);
  });

  test('spans without messages are refused', async () => {
    const bare = span('one', '', 100, 101, { 'gen_ai.operation.name': 'chat' });
    await expect(opened('otel_spans', JSON.stringify({ spans: [bare] }))).rejects.toThrow(
      'spans[0]: gen_ai.input.messages is missing',
    );
  });
});

test('a folder has the sessions of its files in the order of their names, packed or not', async () => {
  const path = join(folder, 'traces');
  await mkdir(path);
  const trace = (id: string, input: number): object => ({
    ...{ id, models: ['m'], block_size: 64 },
    requests: [{ t: 0, type: 's', in: input, out: 3, hash_ids: [1] }],
  });
  await writeFile(join(path, 'b.json'), JSON.stringify(trace('b', 20), null, 2));
  await writeFile(join(path, 'a.jsonl.gz'), gzipSync(lines(trace('a1', 10), trace('a2', 15))));
  await writeFile(join(path, 'readme.md'), 'no trace');
  expect(detectFileType(path)).toBe('weka_trace');
  const file = { path, type: 'weka_trace', strategy: 'sequential', blockTokens: null, delayRatio: 1 } as const;
  const request = { file, inputTokens: null, outputTokens: null, seed: 1, repeat: 0, synthetic: {} };
  const dataset = await openDataset(request, null);
  expect(dataset.size).toBe(3);
  const words = [0, 1, 2].map((i) => (messagesOf(dataset, 0, [], i) as [{ content: string }])[0].content.split(' '));
  expect(words.map(({ length }) => length)).toEqual([10, 15, 20]);
  const empty = join(folder, 'empty');
  await mkdir(empty);
  expect(detectFileType(empty)).toBe('random_pool');
  await expect(openDataset({ ...request, file: { ...file, path: empty } }, null)).rejects.toThrow(
    `${empty}: the folder has no files to send`,
  );
});

describe("Weka's traces", () => {
  const request = (t: number, hash_ids: readonly number[], more: object = {}) => ({
    ...{ t, type: 's', model: 'c', in: hash_ids.length * 64 + 10, out: 20, hash_ids, api_time: 2.5 },
    ...more,
  });
  const trace = (requests: readonly object[]) => ({
    ...{ id: 'trace_0001', models: ['c'], block_size: 64, tool_tokens: 0, system_tokens: 0 },
    requests,
  });
  const subagent = (t: number, agent_id: string, requests: readonly object[]) => ({
    ...{ t, type: 'subagent', agent_id, subagent_type: 'Explore', status: 'completed', requests },
  });

  test('agents begin where they stand in the list, run beside each other, and are joined', async () => {
    const dataset = await opened(
      'weka_trace',
      lines(
        trace([
          request(0, [1]),
          subagent(12, 'a', [request(0, [7]), request(4.5, [7, 8])]),
          subagent(12, 'b', [request(0.5, [9])]),
          request(14.5, [1, 2], { input_types: ['tool_result'] }),
        ]),
        trace([request(0, [1])]),
      ),
    );
    expect(dataset.size).toBe(2);
    expect(graphOf(dataset)).toEqual([
      [[], 1, 0, null],
      [[0], 2, 0, null],
      [[0], 3, 0.5, null],
      [[1], 2, 2, null],
      [[2, 3], 1, 0, 5],
    ]);
    const texts = [0, 4].map((number) => (messagesOf(dataset, number) as [{ content: string }])[0].content.split(' '));
    expect(texts.map(({ length }) => length)).toEqual([74, 138]);
    expect(texts[1]?.slice(0, 64)).toEqual(texts[0]?.slice(0, 64));
    // Ids are of one trace alone.
    const other = (messagesOf(dataset, 0, [], 1) as [{ content: string }])[0].content.split(' ');
    expect(other.slice(0, 64)).not.toEqual(texts[0]?.slice(0, 64));
    expect(dataset.shared?.('measure', 0)[4]).toEqual({
      ...{ tokens: 138, earlier: 0 },
      segments: [
        { key: '0/1', tokens: 64 },
        { key: '0/2', tokens: 64 },
        // As in the same request of a session that recurs.
        { key: 'words 0/4', tokens: 10 },
      ],
    });
  });

  test('in files of whole seconds a request follows one that ended within its second', async () => {
    const dataset = await opened('weka_trace', JSON.stringify(trace([request(0, [1]), request(2, [1, 2])])));
    expect(graphOf(dataset)).toEqual([
      [[], null, 0, null],
      [[0], null, 0, null],
    ]);
  });

  test('absolute times of agents', async () => {
    const agent = subagent(3.5, 'a', [request(3.5, [7]), request(7.25, [7, 8])]);
    const dataset = await opened('weka_trace', JSON.stringify(trace([request(0.5, [1]), agent, request(10.75, [1])])));
    expect(graphOf(dataset)).toEqual([
      [[], 1, 0, null],
      [[0], 2, 0.5, null],
      [[1], 2, 1.25, null],
      [[2], 1, 1, null],
    ]);
  });
});

describe('rounds of TraceLab', () => {
  const round = (
    session_id: string,
    second: number,
    tokens: readonly [prefix: number, appended: number],
    of: string,
  ) => ({
    ...{
      provider: 'claude',
      session_id,
      round_index: second,
      model: 'c',
      output_tokens: 30,
      reasoning_output_tokens: null,
    },
    ...{ input_tokens_total: tokens[0] + tokens[1], prefix_tokens: tokens[0], newly_append_tokens: tokens[1] },
    timing_events: [
      { event_type: of, timestamp: `2026-05-01T10:00:0${second}.000Z` },
      { event_type: 'text', timestamp: `2026-05-01T10:00:0${second}.500Z` },
    ],
    tools: [],
  });

  test('the cached part of a prompt is the beginning of the one before it', async () => {
    const dataset = await opened(
      'tracelab',
      lines(
        round('claude:1', 1, [0, 200], 'user_message'),
        round('codex:2', 1, [0, 64], 'user_message'),
        round('claude:1', 3, [130, 100], 'tool_result'),
      ),
    );
    expect(dataset.size).toBe(2);
    expect(graphOf(dataset)).toEqual([
      [[], null, 0, null],
      [[0], null, 0, 1.5],
    ]);
    expect(dataset.shared?.('measure', 0).map(({ segments }) => segments.map(({ key }) => key))).toEqual([
      ['0/0', '0/1', '0/2', 'words 0/0'],
      ['0/0', '0/1', '0/3', 'words 0/1'],
    ]);
    const texts = [0, 1].map((number) => (messagesOf(dataset, number) as [{ content: string }])[0].content.split(' '));
    expect(texts.map(({ length }) => length)).toEqual([200, 230]);
    expect(texts[1]?.slice(0, 128)).toEqual(texts[0]?.slice(0, 128));
  });
});
