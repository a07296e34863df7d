import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { loadTokenizer, type Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Dataset } from './dataset.ts';
import { detectFileType } from './detect-file-type.ts';
import { entryOrder } from './file-dataset.ts';
import { readElements } from './sharegpt.ts';
import { readLines } from './input-lines.ts';
import { openDataset } from './open-dataset.ts';
import type { DatasetRequest, FileType, InputFile } from './open-dataset.ts';

let folder = '';
let tokenizer: Tokenizer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-datasets-'));
  tokenizer = await loadTokenizer('o200k_base', 'main', {});
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

let files = 0;
async function fileOf(text: string | Buffer): Promise<string> {
  const path = join(folder, `f${files++}.jsonl`);
  await writeFile(path, text);
  return path;
}

interface Opening extends Partial<InputFile> {
  readonly outputTokens?: number;
  readonly seed?: number;
  readonly tokenizer?: Tokenizer;
  readonly takes?: DatasetRequest['takes'];
}

function open(type: FileType, path: string, changes: Opening = {}): Promise<Dataset> {
  const { outputTokens = null, seed = 1, tokenizer: counting = null, takes, ...file } = changes;
  const request: DatasetRequest = {
    inputTokens: null,
    outputTokens,
    seed,
    repeat: 0,
    synthetic: {},
    takes,
    file: { path, type, strategy: 'sequential', blockTokens: 512, delayRatio: 1, ...file },
  };
  return openDataset(request, counting);
}

test('texts to embed, and documents to rank with their query, also in the form of AIPerf', async () => {
  const texts = await open('single_turn', await fileOf(jsonl({ texts: ['a', 'b'] }, { text: 'c' })), {
    takes: 'texts',
  });
  expect([0, 1].map((i) => texts.request('measure', i))).toMatchObject([{ documents: ['a', 'b'] }, { prompt: 'c' }]);
  const named = [
    { name: 'query', contents: ['q'] },
    { name: 'passages', contents: ['a', 'b'] },
  ];
  const rows = jsonl({ query: 'q', documents: ['a', 'b'] }, { query: 'q', passages: ['a', 'b'] }, { texts: named });
  const ranking = await open('single_turn', await fileOf(rows), { takes: 'ranking' });
  const expected = { prompt: 'q', documents: ['a', 'b'] };
  expect([0, 1, 2].map((i) => ranking.request('measure', i))).toMatchObject([expected, expected, expected]);
  const [several, noQuery, noDocuments] = await Promise.all(
    [{ texts: ['a', 'b'] }, { documents: ['a'] }, { query: 'q' }].map((row) => fileOf(jsonl(row))),
  );
  await expect(open('single_turn', several ?? '')).rejects.toThrow(':1: texts must be a list of one string');
  await expect(open('single_turn', noQuery ?? '', { takes: 'ranking' })).rejects.toThrow(':1: query is missing');
  await expect(open('single_turn', noDocuments ?? '', { takes: 'ranking' })).rejects.toThrow(
    ':1: documents is missing',
  );
});

const jsonl = (...rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const promptsOf = (dataset: Dataset, n: number): string[] =>
  Array.from({ length: n }, (_, i) => dataset.request('measure', i).prompt);

describe('reading a file', () => {
  test('lines: blank ones are left out, numbers stay, CR LF and a byte order mark do not matter', async () => {
    const path = await fileOf('\uFEFF{"a":1}\r\n\n  \n{"b":"é"}');
    const { texts, sha256 } = await readLines(path);
    expect(texts.map(({ line, text }) => [line, text.trim()])).toEqual([
      [1, '{"a":1}'],
      [4, '{"b":"é"}'],
    ]);
    expect(sha256).toBe(createHash('sha256').update('\uFEFF{"a":1}\r\n\n  \n{"b":"é"}').digest('hex'));
  });

  test('characters and lines over the edge of a read', async () => {
    const line = `{"text":"${'é'.repeat(700_000)}"}`;
    const { texts } = await readLines(await fileOf(`${line}\n${line}`));
    expect(texts.map(({ text }) => text === line)).toEqual([true, true]);
  });

  test('elements of an array, wherever it breaks the line', async () => {
    const text = '\uFEFF \n[ {"a":"],[\\"\\\\"},\n[1,[2]] ,\n\n"x,y", 3\n]\n';
    const { texts } = await readElements(await fileOf(text));
    expect(texts).toEqual([
      { line: 2, text: '{"a":"],[\\"\\\\"}' },
      { line: 3, text: '[1,[2]]' },
      { line: 5, text: '"x,y"' },
      { line: 5, text: '3' },
    ]);
    expect(texts.map((element) => JSON.parse(element.text) as unknown)).toEqual([{ a: '],["\\' }, [1, [2]], 'x,y', 3]);
    expect((await readElements(await fileOf('[]'))).texts).toEqual([]);
    expect((await readElements(await fileOf('{"a":1}\n{"b":2}'))).texts).toHaveLength(2);
  });

  test('limits', async () => {
    const limits = { fileBytes: 100, lineBytes: 20 };
    const long = await fileOf(`{"a":1}\n{"a":"${'x'.repeat(30)}"}\n`);
    const array = await fileOf(`[1,\n"${'x'.repeat(30)}"]`);
    const large = await fileOf('x'.repeat(101));
    await expect(readLines(long, limits)).rejects.toThrow(`${long}:2: the line is longer than 20 bytes`);
    await expect(readElements(array, limits)).rejects.toThrow(`${array}:2: an element is longer than 20 bytes`);
    await expect(readLines(large, limits)).rejects.toThrow(`${large}: 101 bytes exceed the limit of 100`);
  });

  test('what gzip compressed, also in several members, as its content', async () => {
    const [first, second] = ['{"text":"a"}\n{"te', 'xt":"b"}\n'];
    const path = await fileOf(Buffer.concat([gzipSync(first), gzipSync(second)]));
    const plain = await fileOf(first + second);
    expect(await readLines(path)).toEqual(await readLines(plain));
    expect(detectFileType(path)).toBe('single_turn');
    const limits = { fileBytes: 100, lineBytes: 2000 };
    const bomb = await fileOf(gzipSync('x'.repeat(1000)));
    await expect(readLines(bomb, limits)).rejects.toThrow(
      `${bomb}: it contains more than 100 bytes, which is the limit`,
    );
    const cut = await fileOf(gzipSync(first).subarray(0, 30));
    await expect(readLines(cut)).rejects.toThrow(`${cut}: gzip cannot unpack it (unexpected end of file)`);
  });

  test('what cannot be read', async () => {
    await expect(readLines('/nowhere/x')).rejects.toThrow(
      new ConfigurationError('/nowhere/x: the file does not exist'),
    );
    await expect(readLines(folder)).rejects.toThrow(`${folder}: not a file`);
    const open = await fileOf('[1,2');
    const more = await fileOf('[1]\n2');
    await expect(readElements(open)).rejects.toThrow(`${open}:1: the closing ] of the array is missing`);
    await expect(readElements(more)).rejects.toThrow(`${more}:2: unexpected data after the end of the array`);
  });
});

describe('the order of a file', () => {
  const positions = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

  test('sequential: in file order, and the warm-up from the end', () => {
    const order = entryOrder('sequential', 4, 1);
    expect(positions(6).map((i) => order('measure', i))).toEqual([0, 1, 2, 3, 0, 1]);
    expect(positions(2).map((i) => order('warmup', i))).toEqual([3, 2]);
    expect(order('probe', 0)).toBe(3);
  });

  test('shuffle: each once, then each once in another order; by the seed', () => {
    const order = entryOrder('shuffle', 20, 1);
    const first = positions(20).map((i) => order('measure', i));
    const second = positions(20).map((i) => order('measure', 20 + i));
    expect([...first].sort((a, b) => a - b)).toEqual(positions(20));
    expect([...second].sort((a, b) => a - b)).toEqual(positions(20));
    expect(second).not.toEqual(first);
    expect(positions(20).map((i) => entryOrder('shuffle', 20, 1)('measure', i))).toEqual(first);
    expect(positions(20).map((i) => entryOrder('shuffle', 20, 2)('measure', i))).not.toEqual(first);
  });

  test('random: any of them each time', () => {
    const order = entryOrder('random', 5, 1);
    const drawn = positions(1000).map((i) => order('measure', i));
    for (const entry of positions(5)) expect(drawn.filter((one) => one === entry).length).toBeGreaterThan(130);
  });
});

describe('single_turn', () => {
  test('text, length and time of each row', async () => {
    const path = await fileOf(
      jsonl(
        { text: 'one', output_length: 7, timestamp: 0 },
        { texts: ['two'], timestamp: 1500 },
        { prompt: 'three', timestamp: 2000.5 },
      ),
    );
    const dataset = await open('single_turn', path, { outputTokens: 20 });
    expect(dataset.request('measure', 0)).toEqual({ prompt: 'one', max_tokens: 7 });
    expect(dataset.request('measure', 1)).toEqual({ prompt: 'two', max_tokens: 20 });
    expect(dataset.request('measure', 5).prompt).toBe('three');
    expect(dataset.size).toBe(3);
    expect([...(dataset.due_ns ?? [])]).toEqual([0, 1.5e9, 2_000_500_000]);
    const counted = await open('single_turn', path, { tokenizer });
    expect(counted.request('measure', 0)).toMatchObject({ input_tokens: 1, max_tokens: 7 });
    expect((await open('single_turn', path, { strategy: 'shuffle' })).due_ns).toBeUndefined();
  });

  test('the plan is the file and what is made of it', async () => {
    const path = await fileOf(jsonl({ text: 'one' }));
    const copy = await fileOf(jsonl({ text: 'one' }));
    const other = await fileOf(jsonl({ text: 'two' }));
    const hash = async (file: string, changes: Opening = {}): Promise<string> =>
      (await open('single_turn', file, changes)).planSha256;
    const plan = await hash(path);
    expect(await hash(copy)).toBe(plan);
    expect(await hash(path, { seed: 2 })).toBe(plan);
    const others = [
      await hash(other),
      await hash(path, { outputTokens: 3 }),
      await hash(path, { strategy: 'shuffle' }),
      await hash(path, { strategy: 'shuffle', seed: 2 }),
      (await open('random_pool', path)).planSha256,
    ];
    expect(new Set([plan, ...others]).size).toBe(6);
  });

  test.each([
    ['{"text":"a"}\n{"text":', ':2: not JSON'],
    ['[1]', ':1: not a JSON object'],
    ['{"text":""}', ':1: text must be a non-empty string'],
    ['{}', ':1: text is missing'],
    [
      '{"texts":["a","b"]}',
      ':1: texts must be a list of one string: only --endpoint-type embeddings and pooling have several in a request',
    ],
    ['{"text":"a","video":"x.mp4"}', ':1: video is not supported: text, images and audio only'],
    ['{"text":"a","output_length":0}', ':1: output_length must be a whole number from 1 to 10000000'],
    ['{"text":"a","output_length":1.5}', ':1: output_length must be a whole number from 1'],
    ['{"text":"a","timestamp":-1}', ':1: timestamp must be a number from 0'],
    ['{"text":"a","timestamp":1}\n\n{"text":"b"}', ':3: timestamp is missing, although other rows have one'],
    ['{"text":"a","delay":1}', ':1: delay requires --custom-dataset-type multi_turn'],
    ['\n \n', ': the file has no entries to send'],
  ])('%j', async (text, message) => {
    const path = await fileOf(text);
    await expect(open('single_turn', path)).rejects.toThrow(ConfigurationError);
    await expect(open('single_turn', path)).rejects.toThrow(`${path}${message}`);
  });
});

describe('multi_turn', () => {
  test('history with the answers of the server, delays, and a session over two lines', async () => {
    const path = await fileOf(
      jsonl(
        {
          session_id: 'a',
          turns: [
            { role: 'system', text: 'be brief' },
            { text: 'one' },
            { text: 'two', delay: 1500, output_length: 9 },
          ],
        },
        { turns: [{ text: 'alone' }] },
        { session_id: 'a', turns: [{ text: 'three' }] },
      ),
    );
    const dataset = await open('multi_turn', path, { outputTokens: 20, delayRatio: 0.5, tokenizer });
    expect(dataset.size).toBe(2);
    const one = dataset.conversation?.('measure', 0);
    expect(one?.requests).toBe(3);
    expect([0, 1, 2].map((turn) => one?.place(turn).thinkSeconds)).toEqual([0, 0.75, 0]);
    expect(one?.request(0, [])).toEqual({
      history: [{ role: 'system', content: 'be brief' }],
      prompt: 'one',
      max_tokens: 20,
      input_tokens: 3,
    });
    expect(one?.request(2, ['eins', 'zwei'])).toMatchObject({
      history: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'eins' },
        { role: 'user', content: 'two' },
        { role: 'assistant', content: 'zwei' },
      ],
      prompt: 'three',
    });
    expect(one?.request(1, ['eins']).max_tokens).toBe(9);
    expect(dataset.conversation?.('measure', 1).requests).toBe(1);
    expect(dataset.request('probe', 0).prompt).toBe('alone');
  });

  test('an empty answer has no message', async () => {
    const dataset = await open('multi_turn', await fileOf(jsonl({ turns: [{ text: 'one' }, { text: 'two' }] })));
    expect(dataset.conversation?.('measure', 0).request(1, ['']).history).toEqual([{ role: 'user', content: 'one' }]);
  });

  test("an assistant's turn replaces the server's answer", async () => {
    const turns = [{ text: 'one' }, { role: 'assistant', text: 'fixed' }, { text: 'two' }];
    const dataset = await open('multi_turn', await fileOf(jsonl({ turns })));
    expect(dataset.conversation?.('measure', 0).request(1, ['said']).history).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'fixed' },
    ]);
  });

  test.each([
    [{}, ':1: turns must be a non-empty list'],
    [{ turns: [] }, ':1: turns must be a non-empty list'],
    [{ turns: [3] }, ':1: turns[0] must be an object'],
    [
      { turns: [{ text: 'a' }, { text: 'a', role: 'bot' }] },
      ":1: turns[1]: role is 'bot' and must be one of user, assistant, system",
    ],
    [{ turns: [{ text: 'a', timestamp: 0 }] }, ':1: turns[0]: timestamp is not supported in a conversation: use delay'],
    [{ turns: [{ role: 'system', text: 'a' }] }, ':1: the conversation has no user turn'],
  ])('%j', async (row, message) => {
    const path = await fileOf(jsonl(row));
    await expect(open('multi_turn', path)).rejects.toThrow(`${path}${message}`);
  });
});

describe('random_pool', () => {
  test('any row of a file, the same for the same seed', async () => {
    const path = await fileOf(jsonl(...['a', 'b', 'c'].map((text) => ({ text }))));
    const dataset = await open('random_pool', path);
    const prompts = promptsOf(dataset, 300);
    for (const text of ['a', 'b', 'c']) expect(prompts.filter((prompt) => prompt === text).length).toBeGreaterThan(60);
    expect(promptsOf(await open('random_pool', path), 300)).toEqual(prompts);
    expect(promptsOf(await open('random_pool', path, { seed: 2 }), 300)).not.toEqual(prompts);
    expect(dataset.size).toBeNull();
  });

  test('one of each file of a folder', async () => {
    const pools = join(folder, 'pools');
    await mkdir(pools);
    await writeFile(join(pools, 'b-passage.jsonl'), jsonl({ text: 'x' }, { text: 'y' }));
    await writeFile(
      join(pools, 'a-query.jsonl'),
      jsonl({ text: '1', output_length: 3 }, { text: '2', output_length: 3 }),
    );
    await writeFile(join(pools, 'readme.txt'), 'no pool');
    const dataset = await open('random_pool', pools);
    expect(new Set(promptsOf(dataset, 200))).toEqual(new Set(['1\nx', '1\ny', '2\nx', '2\ny']));
    expect(dataset.request('measure', 0).max_tokens).toBe(3);
  });
});

describe('raw_payload', () => {
  test('each line is a body', async () => {
    const path = await fileOf(jsonl({ messages: [], max_completion_tokens: 5 }, { prompt: 'x' }));
    const dataset = await open('raw_payload', path, { outputTokens: 20 });
    expect(dataset.request('measure', 0)).toMatchObject({
      payload: { messages: [], max_completion_tokens: 5 },
      max_tokens: 5,
    });
    expect(dataset.request('measure', 1)).toMatchObject({ payload: { prompt: 'x' }, max_tokens: 20 });
  });

  test('several choices are refused', async () => {
    const path = await fileOf(jsonl({ n: 1 }, { n: 2 }));
    await expect(open('raw_payload', path)).rejects.toThrow(`${path}:2: n must be 1`);
  });
});

describe('mooncake_trace', () => {
  const rows = [
    { timestamp: 0, input_length: 20, output_length: 5, hash_ids: [1, 2] },
    { timestamp: 10_535, input_length: 25, output_length: 6, hash_ids: [1, 2, 3] },
    { timestamp: 27_482, input_length: 25, output_length: 7, hash_ids: [1] },
    { timestamp: 27_482, input_length: 25, output_length: 7, hash_ids: [1] },
    { timestamp: 30_000, text_input: 'as it is' },
  ];
  const wordsOf = (text: string): string[] => text.split(' ');

  test('lengths and times; the same ids give the same beginning, the rest is unique', async () => {
    const dataset = await open('mooncake_trace', await fileOf(jsonl(...rows)), { blockTokens: 10, outputTokens: 3 });
    const [a = [], b = [], c = [], d = []] = promptsOf(dataset, 4).map(wordsOf);
    expect([a, b, c, d].map((words) => words.length)).toEqual([20, 25, 25, 25]);
    expect(b.slice(0, 20)).toEqual(a);
    expect(c.slice(0, 10)).toEqual(a.slice(0, 10));
    expect(c.slice(10, 20)).not.toEqual(a.slice(10, 20));
    expect(d.slice(0, 10)).toEqual(c.slice(0, 10));
    expect(d.slice(10)).not.toEqual(c.slice(10));
    expect(dataset.request('measure', 4)).toEqual({ prompt: 'as it is', max_tokens: 3 });
    expect([0, 1, 2].map((i) => dataset.request('measure', i).max_tokens)).toEqual([5, 6, 7]);
    expect([...(dataset.due_ns ?? [])]).toEqual([0, 10_535e6, 27_482e6, 27_482e6, 30e9]);
  });

  test('a block that is not full is the beginning of the full one', async () => {
    const path = await fileOf(jsonl({ input_length: 15, hash_ids: [1, 2] }, { input_length: 20, hash_ids: [1, 2] }));
    const dataset = await open('mooncake_trace', path, { blockTokens: 10 });
    const [part = '', whole = ''] = promptsOf(dataset, 2);
    expect(wordsOf(whole).slice(0, 15)).toEqual(wordsOf(part));
    expect(dataset.due_ns).toBeUndefined();
  });

  test('with a tokenizer the tokens are counted', async () => {
    const dataset = await open('mooncake_trace', await fileOf(jsonl({ input_length: 1300, hash_ids: [7, 8] })), {
      tokenizer,
    });
    const { prompt, input_tokens } = dataset.request('measure', 0);
    expect(input_tokens).toBe(tokenizer.count(prompt));
    expect(Math.abs((input_tokens ?? 0) - 1300)).toBeLessThanOrEqual(2);
  });

  test.each([
    [{ output_length: 3 }, ':1: input_length or text_input is required'],
    [
      { input_length: 512, hash_ids: [1, 2] },
      ':1: hash_ids has 2 blocks of 512 tokens, more than input_length 512 holds: check --isl-block-size',
    ],
    [{ input_length: 3, hash_ids: ['a'] }, ':1: hash_ids must be a list of whole numbers'],
    [{ text_input: 'a', hash_ids: [1] }, ':1: text_input and hash_ids cannot be used together'],
    [{ input_length: 3, delay: 3 }, ':1: delay and session_id require a session_id in the first row'],
  ])('%j', async (row, message) => {
    const path = await fileOf(jsonl(row));
    await expect(open('mooncake_trace', path)).rejects.toThrow(`${path}${message}`);
  });
});

describe('sharegpt', () => {
  const turn = (from: string, value: string): object => ({ from, value });
  const FIVE = 'The capital of France is'; // 5 tokens in o200k_base
  const conversations = [
    { id: 'a', conversations: [turn('human', FIVE), turn('gpt', 'Paris, of course, my dear.'), turn('human', 'x')] },
    { id: 'too short', conversations: [turn('human', 'Hi'), turn('gpt', 'Paris, of course, my dear.')] },
    { id: 'no answer', conversations: [turn('human', FIVE)] },
    { id: 'short answer', conversations: [turn('human', FIVE), turn('gpt', 'Hm')] },
    { id: 'long', conversations: [turn('human', 'word '.repeat(1100)), turn('gpt', 'Paris, of course, my dear.')] },
    { id: 'empty', conversations: [] },
  ];

  test("with a tokenizer: the lengths that vLLM's benchmark takes", async () => {
    const dataset = await open('sharegpt', await fileOf(JSON.stringify(conversations, null, 2)), { tokenizer });
    expect(dataset.size).toBe(1);
    expect(dataset.request('measure', 0)).toEqual({
      prompt: FIVE,
      input_tokens: 5,
      max_tokens: tokenizer.count('Paris, of course, my dear.'),
    });
    const fixed = await open('sharegpt', await fileOf(JSON.stringify(conversations)), { tokenizer, outputTokens: 64 });
    expect(fixed.size).toBe(2);
    expect(fixed.request('measure', 0).max_tokens).toBe(64);
  });

  test('without one the answers need a length', async () => {
    const path = await fileOf(jsonl(...conversations));
    await expect(open('sharegpt', path)).rejects.toThrow(
      'a ShareGPT file requires --tokenizer, which counts the tokens of its answers, or --osl',
    );
    const dataset = await open('sharegpt', path, { outputTokens: 32 });
    expect(dataset.size).toBe(4);
    expect(dataset.request('measure', 0)).toEqual({ prompt: FIVE, max_tokens: 32 });
  });

  test.each([
    ['[{"a":1}]', ':1: conversations is missing: each entry must have a list of turns'],
    ['[\n{"conversations":[{"value":"a"},{"value":3}]}]', ':2: conversations[1]: value must be a string'],
    ['[]', ': the file has no entries to send'],
    ['[{"conversations":[]}]', ': none of its 1 conversations has a supported length'],
  ])('%j', async (text, message) => {
    const path = await fileOf(text);
    await expect(open('sharegpt', path, { outputTokens: 3 })).rejects.toThrow(`${path}${message}`);
  });
});

test('--isl and a file cannot be used together', async () => {
  const file: InputFile = { path: 'x', type: 'single_turn', strategy: 'sequential', blockTokens: 512, delayRatio: 1 };
  const request = { inputTokens: 5, outputTokens: null, seed: 1, repeat: 0, synthetic: {}, file };
  await expect(openDataset(request, null)).rejects.toThrow('--isl has no effect with --input-file');
});
