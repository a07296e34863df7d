import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { detectFileType } from './detect-file-type.ts';
import { openDataset, type FileType, type InputFile } from './open-dataset.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-public-traces-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
async function fileOf(text: string): Promise<string> {
  const path = join(folder, `trace${files++}`);
  await writeFile(path, text);
  return path;
}

function open(type: FileType, path: string, changes: Partial<InputFile> = {}) {
  const file = { path, type, strategy: 'sequential', blockTokens: null, delayRatio: 1, ...changes } as const;
  return openDataset({ inputTokens: null, outputTokens: null, seed: 1, repeat: 0, synthetic: {}, file }, null);
}

async function requests(type: FileType, text: string) {
  const dataset = await open(type, await fileOf(text));
  const all = Array.from({ length: dataset.size ?? 0 }, (_, i) => dataset.request('measure', i));
  return {
    dataset,
    due_ns: [...(dataset.due_ns ?? [])],
    lengths: all.map(({ prompt, max_tokens }) => [prompt.split(' ').length, max_tokens]),
    prompts: all.map(({ prompt }) => prompt),
  };
}

/** README of github.com/HPMLL/BurstGPT; the rows are the first ones of BurstGPT_1.csv, and one failed request. */
const BURST_1 = `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
1106,ChatGPT,0,0,0,Conversation log
1118,GPT-4,417,276,693,Conversation log
`;
/** The columns of release v2.0 of the same. */
const BURST_2 = `Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
19440110.0,1722ac82-0a46-4bf0-aa08-89794e7a2b3f,43,GPT-4,906,446,1352,Conversation log
19440161.5,d5983bf9-4b48-497b-892b-a58995247443,2,ChatGPT,36,29,65,Conversation log
`;
/** Azure/AzurePublicDataset, data/AzureLLMInferenceTrace_conv.csv: its first rows. */
const AZURE_2023 =
  'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:50.9951690,396,109';
const AZURE_2024 = `TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 23:59:59.500000+00:00,100,10
2024-05-11 00:00:01.250000+00:00,20,2
`;
/** README of github.com/alibaba-edu/qwen-bailian-usagetraces-anon: fields, seconds, blocks of 16 tokens. */
const BAILIAN = `{"chat_id": 55, "parent_chat_id": -1, "timestamp": 0.0, "input_length": 40, "output_length": 7, "type": "text", "turn": 1, "hash_ids": [1, 2, 3]}
{"chat_id": 159, "parent_chat_id": 55, "timestamp": 61.114, "input_length": 52, "output_length": 132, "type": "text", "turn": 2, "hash_ids": [1, 2, 9, 10]}
`;
/** README of github.com/kvcache-ai/Mooncake: milliseconds, blocks of 512 tokens. */
const MOONCAKE = `{"timestamp": 27482, "input_length": 600, "output_length": 52, "hash_ids": [46, 47]}
{"timestamp": 30535, "input_length": 700, "output_length": 26, "hash_ids": [46, 50]}
`;

describe('public traces in their published formats', () => {
  test('BurstGPT: seconds since the first request; failed requests are not sent, and counted', async () => {
    const { due_ns, lengths, dataset } = await requests('burst_gpt_trace', BURST_1);
    expect(due_ns).toEqual([0, 40e9, 1113e9]);
    expect(lengths).toEqual([
      [472, 18],
      [1087, 230],
      [417, 276],
    ]);
    expect(dataset.notes).toEqual([expect.stringMatching(/: 1 row with 0 tokens \(failed requests\) are not sent$/)]);
    expect(dataset.longestOutputTokens).toBe(276);
  });

  test('BurstGPT with sessions', async () => {
    const { due_ns, lengths } = await requests('burst_gpt_trace', BURST_2);
    expect(due_ns).toEqual([0, 51.5e9]);
    expect(lengths).toEqual([
      [906, 446],
      [36, 29],
    ]);
  });

  test('Azure: times with 100 ns, relative to the first request', async () => {
    const { due_ns, lengths } = await requests('azure_trace', AZURE_2023);
    // 50.9951690 s - 46.6805900 s; a double of that size is exact to 32 ns.
    expect(Math.abs((due_ns[1] ?? 0) - 4_314_579_000)).toBeLessThanOrEqual(32);
    expect(lengths).toEqual([
      [374, 44],
      [396, 109],
    ]);
    expect((await requests('azure_trace', AZURE_2024)).due_ns).toEqual([0, 1.75e9]);
  });

  test('Bailian: seconds, and blocks of 16 tokens that turns of a chat share', async () => {
    const { due_ns, lengths, prompts } = await requests('bailian_trace', BAILIAN);
    expect(due_ns).toEqual([0, 61.114e9]);
    expect(lengths).toEqual([
      [40, 7],
      [52, 132],
    ]);
    const [first = [], second = []] = prompts.map((prompt) => prompt.split(' '));
    expect(second.slice(0, 32)).toEqual(first.slice(0, 32));
    expect(second.slice(32, 40)).not.toEqual(first.slice(32));
  });

  test('Mooncake: milliseconds, and blocks of 512 tokens', async () => {
    const { due_ns, prompts } = await requests('mooncake_trace', MOONCAKE);
    expect(due_ns).toEqual([27_482e6, 30_535e6]);
    const [first = [], second = []] = prompts.map((prompt) => prompt.split(' '));
    expect(second.slice(0, 512)).toEqual(first.slice(0, 512));
    expect(second.slice(512, 600)).not.toEqual(first.slice(512));
  });
});

describe('malformed rows are refused with their line', () => {
  const burst = (row: string): string => BURST_1 + row;
  test.each([
    ['burst_gpt_trace', burst('9,GPT-4,1,2\n'), ':6: 4 fields, but the header has 6'],
    ['burst_gpt_trace', burst('x,GPT-4,1,2,3,API log'), ':6: Timestamp must be seconds, such as 5 or 19440110.0'],
    [
      'burst_gpt_trace',
      burst('9,GPT-4,1.5,2,3,API log'),
      ':6: Request tokens must be a whole number from 0 to 10000000',
    ],
    ['burst_gpt_trace', 'Timestamp,Model\n', ':1: the column Request tokens is missing'],
    ['azure_trace', `${AZURE_2024}yesterday,1,2`, ':4: TIMESTAMP must be a time, such as 2023-11-16 18:15:46.6805900'],
    [
      'azure_trace',
      `${AZURE_2024}2024-05-11 00:00:09,1,-2`,
      ':4: GeneratedTokens must be a whole number from 0 to 10000000',
    ],
    ['bailian_trace', `${BAILIAN}{"chat_id": 1, "timestamp": 1, "output_length": 1}`, ':3: input_length is missing'],
    [
      'bailian_trace',
      `${BAILIAN}{"timestamp": "1", "input_length": 1, "output_length": 1}`,
      ':3: timestamp must be a number',
    ],
    [
      'bailian_trace',
      BAILIAN.replace('52,', '30,'),
      ':2: hash_ids has 4 blocks of 16 tokens, more than input_length 30 holds',
    ],
    ['mooncake_trace', `${MOONCAKE}{"input_length": 3}`, ':3: timestamp is missing, although other rows have one'],
    ['azure_trace', 'TIMESTAMP,ContextTokens,GeneratedTokens\n', ': the file has no entries to send'],
  ] as const)('%s', async (type, text, message) => {
    const path = await fileOf(text);
    await expect(open(type, path)).rejects.toThrow(`${path}${message}`);
  });
});

describe('the format is found from the content', () => {
  test.each([
    ['burst_gpt_trace', BURST_1],
    ['burst_gpt_trace', BURST_2],
    ['azure_trace', AZURE_2023],
    ['bailian_trace', BAILIAN],
    ['mooncake_trace', MOONCAKE],
    ['mooncake_trace', '{"text_input": "a"}'],
    ['sharegpt', '[{"id": "x", "conversations": [{"from": "human", "value": "a"}]}]'],
    ['sharegpt', '\uFEFF[\n  {"conversation": []}\n]'],
    ['multi_turn', '{"session_id": "a", "turns": []}'],
    ['raw_payload', '{"model": "m", "messages": []}'],
    ['single_turn', '\n\n{"text": "has \\"input_length\\": 3"}'],
    ['single_turn', ''],
    [null, 'a,b,c\n1,2,3\n'],
    [null, '[1, 2]'],
  ])('%s', async (type, text) => {
    expect(detectFileType(await fileOf(text))).toBe(type);
  });

  test('a folder is a pool, and what cannot be read is reported when it is opened', () => {
    expect(detectFileType(folder)).toBe('random_pool');
    expect(detectFileType(join(folder, 'no such file'))).toBeUndefined();
  });

  test('a line says which format was found', async () => {
    const path = await fileOf(AZURE_2024);
    const { notes } = await open('azure_trace', path, { isDetected: true });
    expect(notes).toEqual([`${path}: read as azure_trace; --custom-dataset-type sets another format`]);
  });
});
