import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '../../errors/expected-error.ts';
import { WORDS } from '../datasets/words.ts';
import { loadTokenizer, TIKTOKEN_ENCODINGS, optionalPackage } from './tokenizer.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const load = (name: string, environment: NodeJS.ProcessEnv = {}): ReturnType<typeof loadTokenizer> =>
  loadTokenizer(name, 'main', environment);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-tokenizers-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe('a tokenizer in the Hugging Face format', () => {
  const TEXTS = [
    '',
    'above',
    'The quick brown fox jumps over the lazy dog.',
    'water and fire',
    '1234567 + 89 = ?',
    'naïve café 😀 \u2028',
    '  two  spaces\n\n\tand lines\r\n',
    '<|begin|>x<|end|>',
    WORDS.slice(0, 200).join(' '),
  ];

  // As the reference implementation (Rust, `tokenizers` 0.23.3) counts without special tokens.
  test.each([
    ['bpe', [0, 4, 18, 5, 16, 18, 14, 3, 337]],
    ['unigram', [0, 2, 26, 6, 10, 12, 16, 11, 524]],
  ])('%s counts as the reference does', async (name, counts) => {
    const tokenizer = await load(join(FIXTURES, name));
    expect(TEXTS.map((text) => tokenizer.count(text))).toEqual(counts);
  });

  test('a file, or the folder that holds it', async () => {
    const byFile = await load(join(FIXTURES, 'bpe', 'tokenizer.json'));
    const byFolder = await load(join(FIXTURES, 'bpe'));
    expect(byFile.identity).toBe(byFolder.identity);
    expect(byFile.identity).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    ['{', /tokenizer\.json: not a usable tokenizer\.json \(/],
    ['[]', /not a usable tokenizer\.json/],
    ['{"model":{"type":"Nothing"}}', /not a usable tokenizer\.json/],
  ])('a file that is none: %s', async (text, message) => {
    const file = join(folder, 'tokenizer.json');
    await writeFile(file, text);
    await expect(load(file)).rejects.toThrow(ConfigurationError);
    await expect(load(file)).rejects.toThrow(message);
  });

  test('what cannot be found', async () => {
    const empty = join(folder, 'empty');
    await mkdir(empty);
    await expect(load(empty)).rejects.toThrow(`--tokenizer ${empty}: the folder has no tokenizer.json`);
    await expect(load('./nowhere')).rejects.toThrow('--tokenizer ./nowhere: the file or folder does not exist');
    await expect(load('a b')).rejects.toThrow('the file or folder does not exist');
  });
});

describe('the encodings of tiktoken', () => {
  // OpenAI's cookbook ("How to count tokens with tiktoken"), and for the last text the package tiktoken 1.0.22.
  test.each([
    ['o200k_base', [6, 6, 7, 8, 25]],
    ['cl100k_base', [6, 6, 7, 9, 25]],
    ['p50k_base', [6, 5, 5, 14, 29]],
    ['r50k_base', [6, 5, 5, 14, 29]],
  ])('%s', async (name, counts) => {
    const tokenizer = await load(name);
    const texts = [
      'tiktoken is great!',
      'antidisestablishmentarianism',
      '2 + 2 = 4',
      'お誕生日おめでとう',
      'The quick brown fox jumps over the lazy dog.\n\n  def f(x):\n\treturn x**2  # 😀 naïve\n',
    ];
    expect(texts.map((text) => tokenizer.count(text))).toEqual(counts);
    // A special token in a prompt is text.
    expect(tokenizer.count('<|endoftext|>')).toBeGreaterThan(1);
  });

  test('all of them can be had', async () => {
    for (const name of TIKTOKEN_ENCODINGS) expect((await load(name)).identity).toBe(`tiktoken ${name}`);
    expect((await load('builtin')).name).toBe('o200k_base');
  });
});

describe('a model on the hub', () => {
  let hub: Server;
  let endpoint = '';
  const requests: { path: string; authorization: string | undefined }[] = [];

  beforeAll(async () => {
    const definition = await readFile(join(FIXTURES, 'bpe', 'tokenizer.json'));
    hub = createServer((request, response) => {
      const path = request.url ?? '';
      requests.push({ path, authorization: request.headers.authorization });
      if (path.startsWith('/org/gated/')) response.writeHead(401).end();
      else if (path.startsWith('/org/broken/')) response.writeHead(503).end();
      else if (path === '/org/model/resolve/main/tokenizer.json')
        response.writeHead(302, { location: '/cdn/blob' }).end();
      else if (path === '/cdn/blob') response.end(definition);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
    endpoint = `http://127.0.0.1:${(hub.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    hub.close();
    hub.closeAllConnections();
  });

  const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    HF_ENDPOINT: endpoint,
    HF_HUB_CACHE: join(folder, 'hub'),
    LLMBENCH_CACHE_DIR: join(folder, 'own'),
    ...more,
  });

  test('is downloaded once, with the token if there is one', async () => {
    requests.length = 0;
    const fetched = await load('org/model', environment({ HF_TOKEN: 'hf_1' }));
    expect(fetched.count('water and fire')).toBe(5);
    expect(requests.map(({ path }) => path).sort()).toEqual([
      '/cdn/blob',
      '/org/model/resolve/main/tokenizer.json',
      '/org/model/resolve/main/tokenizer_config.json',
    ]);
    expect(requests.find(({ path }) => path.endsWith('tokenizer.json'))?.authorization).toBe('Bearer hf_1');
    requests.length = 0;
    expect((await load('org/model', environment({ HF_HUB_OFFLINE: '1' }))).identity).toBe(fetched.identity);
    expect(requests).toEqual([]);
  });

  test("the cache of the hub's own tools is used", async () => {
    const model = join(folder, 'hub', 'models--org--cached');
    await mkdir(join(model, 'refs'), { recursive: true });
    await mkdir(join(model, 'snapshots', 'abc123'), { recursive: true });
    await writeFile(join(model, 'refs', 'main'), 'abc123');
    await writeFile(
      join(model, 'snapshots', 'abc123', 'tokenizer.json'),
      await readFile(join(FIXTURES, 'unigram', 'tokenizer.json')),
    );
    const tokenizer = await load('org/cached', environment({ HF_ENDPOINT: 'http://127.0.0.1:9' }));
    expect(tokenizer.count('water and fire')).toBe(6);
  });

  test.each([
    ['org/none', {}, '--tokenizer org/none: the model has no tokenizer.json in revision main'],
    ['org/gated', {}, '--tokenizer org/gated: HTTP 401: the model does not exist, or is gated and requires HF_TOKEN'],
    ['org/broken', {}, '--tokenizer org/broken: HTTP 503 from '],
    ['org/away', { HF_ENDPOINT: 'http://127.0.0.1:9' }, 'cannot be reached'],
    ['org/away', { HF_HUB_OFFLINE: '1' }, '--tokenizer org/away: not in the cache, and HF_HUB_OFFLINE is 1'],
  ])('%s %j', async (name, more, message) => {
    await expect(load(name, environment(more))).rejects.toThrow(message);
  });

  test('a revision that would leave the folder is refused', async () => {
    await expect(loadTokenizer('org/model', '../x', environment())).rejects.toThrow(
      "--tokenizer-revision '../x' must be",
    );
  });
});

test('a missing package is named', async () => {
  const missing = (): Promise<unknown> => {
    const error = new Error("Cannot find package 'gpt-tokenizer' imported from x");
    return Promise.reject(Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' }));
  };
  await expect(optionalPackage(missing, 'gpt-tokenizer', '--tokenizer o200k_base')).rejects.toThrow(
    '--tokenizer o200k_base requires the package gpt-tokenizer: npm install gpt-tokenizer',
  );
  await expect(optionalPackage(() => Promise.reject(new Error('else')), 'gpt-tokenizer', 'x')).rejects.toThrow('else');
});
