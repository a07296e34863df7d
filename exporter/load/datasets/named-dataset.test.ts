import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { namedDataset, type DatasetHosts } from './named-dataset.ts';

const REVISION = '0123456789abcdef0123456789abcdef01234567';
const OPTIONS = { rows: 250, column: null };

let cache = '';
let server: Server | null = null;
let requests: URL[] = [];
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'llmbench-datasets-'));
  requests = [];
});
afterEach(async () => {
  await new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
  server = null;
  await rm(cache, { recursive: true });
});

/** The hub's rows API, with the fields and the header that its service has. */
async function hub(rows: readonly object[], change: Partial<DatasetHosts> = {}): Promise<DatasetHosts> {
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', 'http://h');
    requests.push(url);
    const headers = { 'content-type': 'application/json', 'x-revision': REVISION, connection: 'close' };
    // A file of the hub, whose address has a signature.
    if (url.pathname.startsWith('/assets/'))
      return void response.writeHead(url.pathname.endsWith('gone') ? 403 : 200, headers).end(url.pathname);
    const dataset = url.searchParams.get('dataset');
    if (dataset === 'org/gone')
      return void response.writeHead(404, headers).end(JSON.stringify({ error: 'The dataset does not exist.' }));
    if (url.pathname === '/splits') {
      const splits = ['train', 'test'].map((split) => ({ dataset, config: 'default', split }));
      return void response.writeHead(200, headers).end(JSON.stringify({ splits, pending: [], failed: [] }));
    }
    const offset = Number(url.searchParams.get('offset'));
    const page = rows.slice(offset, offset + Number(url.searchParams.get('length')));
    const body = {
      features: [],
      rows: page.map((row, i) => ({ row_idx: offset + i, row, truncated_cells: 'cut' in row ? ['text'] : [] })),
      num_rows_total: rows.length,
      num_rows_per_page: 100,
      partial: false,
    };
    response.writeHead(200, headers).end(JSON.stringify(body));
  };
  const started = createServer(respond);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const rowsApi = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
  return { rowsApi, token: null, cache, offline: false, ...change };
}

const linesOf = async (path: string): Promise<unknown[]> =>
  (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

const QUESTIONS = Array.from({ length: 130 }, (_, i) => ({ id: i, question: `question ${i}`, answer: 'x' }));

test('all pages of the first split become a file of prompts, with the revision that was served', async () => {
  const { path, source, notes } = await namedDataset('hf:org/data', OPTIONS, await hub(QUESTIONS));
  expect(await linesOf(path)).toEqual(QUESTIONS.map(({ question }) => ({ text: question })));
  expect(source).toEqual({ name: 'hf:org/data', revision: REVISION });
  expect(notes).toEqual([]);
  expect(
    requests.map(({ pathname, searchParams: query }) => [pathname, query.get('offset'), query.get('split')]),
  ).toEqual([
    ['/splits', null, null],
    ['/rows', '0', 'train'],
    ['/rows', '100', 'train'],
  ]);
});

test('a pinned revision is read from the cache without a request; the split may be named', async () => {
  const hosts = await hub(QUESTIONS);
  const pinned = `hf:org/data@${REVISION.slice(0, 8)}:default/test`;
  const first = await namedDataset(pinned, { rows: 5, column: 'answer' }, hosts);
  expect(await linesOf(first.path)).toEqual(new Array(5).fill({ text: 'x' }));
  const sent = requests.length;
  expect(await namedDataset(pinned, { rows: 5, column: 'answer' }, { ...hosts, offline: true })).toEqual(first);
  expect(requests).toHaveLength(sent);
});

test('offline, the newest revision of the cache is used and named; without one the line says what to do', async () => {
  const hosts = await hub(QUESTIONS);
  const first = await namedDataset('hf:org/data', OPTIONS, hosts);
  const gone = { ...hosts, rowsApi: 'http://127.0.0.1:2' };
  const again = await namedDataset('hf:org/data', OPTIONS, gone);
  expect(again).toMatchObject({ path: first.path, source: first.source });
  expect(again.notes).toEqual([
    `http://127.0.0.1:2 cannot be reached (ECONNREFUSED): revision ${REVISION} of the cache is used`,
  ]);
  await expect(namedDataset('hf:org/other', OPTIONS, gone)).rejects.toThrow(
    /^--dataset hf:org\/other: http:\/\/127.0.0.1:2 cannot be reached \(ECONNREFUSED\), and .* does not hold it; without a network, use --input-file/,
  );
});

test.each([
  [
    'conversations of ShareGPT',
    { conversations: [{ from: 'human', value: 'a' }] },
    { conversations: [{ from: 'human', value: 'a' }] },
  ],
  [
    'messages, without the system prompt',
    {
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'a' },
      ],
    },
    { conversation: [{ role: 'user', content: 'a' }] },
  ],
  ['the first of several turns', { turns: ['one', 'two'] }, { text: 'one' }],
])('%s', async (_, row, line) => {
  const { path } = await namedDataset('hf:org/data', OPTIONS, await hub([row]));
  expect(await linesOf(path)).toEqual([line]);
});

const image = (name: string): object => ({ src: `/assets/${name}?Signature=s`, height: 2, width: 3 });

test.each([
  [
    'a prompt with images and audio',
    {
      question: 'what?',
      ...{ image: image('a'), more: [image('b'), image('c')], nothing: null },
      audio: [
        { src: '/assets/d', type: 'audio/wav' },
        { src: '/assets/e', type: 'audio/mpeg' },
      ],
    },
    { text: 'what?', images: ['/assets/a', '/assets/b', '/assets/c'], audios: ['/assets/d'] },
  ],
  [
    'a conversation with marks for images, as LLaVA has it',
    {
      image: image('a'),
      conversations: [
        { from: 'human', value: '<image>\nwhat?' },
        { from: 'gpt', value: 'a cat' },
        { from: 'human', value: 'why?' },
      ],
    },
    {
      turns: [
        { role: 'user', text: 'what?', images: ['/assets/a'] },
        { role: 'assistant', text: 'a cat' },
        { role: 'user', text: 'why?' },
      ],
    },
  ],
  [
    'messages with parts for images',
    {
      images: [image('a'), image('b')],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'one' }, { type: 'image' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'yes' }] },
        { role: 'user', content: [{ type: 'image' }, { type: 'text', text: 'two' }] },
      ],
    },
    {
      turns: [
        { role: 'user', text: 'one', images: ['/assets/a'] },
        { role: 'assistant', text: 'yes' },
        { role: 'user', text: 'two', images: ['/assets/b'] },
      ],
    },
  ],
  [
    'messages without a place for an image',
    { image: image('a'), messages: [{ role: 'user', content: 'one' }] },
    { turns: [{ role: 'user', text: 'one', images: ['/assets/a'] }] },
  ],
])('%s: the files are saved beside the rows', async (_, row, expected) => {
  const { path } = await namedDataset('hf:org/data', OPTIONS, await hub([row]));
  const text = await readFile(path, 'utf8');
  const saved = [...text.matchAll(/"(media.[0-9a-f]{64})"/g)].map(([, name = '']) => name);
  // Each file has its address as content.
  const contents = await Promise.all(saved.map((name) => readFile(join(dirname(path), name), 'utf8')));
  const read = saved.reduce((line, name, i) => line.replace(name, contents[i] ?? ''), text);
  expect(JSON.parse(read)).toEqual(expected);
});

test('a file that is not available is refused in one line', async () => {
  const hosts = await hub([{ text: 'a', image: image('gone') }]);
  await expect(namedDataset('hf:org/data', OPTIONS, hosts)).rejects.toThrow(
    /^--dataset hf:org\/data: HTTP 403 for a file of http:\/\/127.0.0.1:\d+$/,
  );
});

test('rows that the API truncates are left out and counted', async () => {
  const { path, notes } = await namedDataset('hf:org/data', OPTIONS, await hub([{ text: 'a' }, { text: 'b', cut: 1 }]));
  expect(await linesOf(path)).toEqual([{ text: 'a' }]);
  expect(notes).toEqual(['1 row left out, which the rows API truncates']);
});

test.each([
  ['hf:org/gone', 'HTTP 404 from http', 'The dataset does not exist.'],
  ['hf:org/data@fedcba9', `the rows API serves revision ${REVISION}`, 'use --input-file'],
  ['hf:org/data@v1.0', 'the revision v1.0 must be a commit', ''],
  ['hf:org/data:validation', 'it has no split validation, only default/train, default/test', ''],
  ['nothing', 'must be hf:NAME[@REVISION][:SPLIT]', 'sharegpt, mooncake-conversation'],
  ['constructor', 'must be hf:NAME[@REVISION][:SPLIT]', 'sharegpt, mooncake-conversation'],
])('%s is refused in one line', async (given, ...parts) => {
  const refused = namedDataset(given, OPTIONS, await hub(QUESTIONS));
  for (const part of parts) await expect(refused).rejects.toThrow(part);
  await expect(refused).rejects.toThrow(/^[^\n]*$/);
});

test('rows without a known column are refused with their names', async () => {
  await expect(namedDataset('hf:org/data', OPTIONS, await hub([{ a: 'x', b: 1 }]))).rejects.toThrow(
    '--dataset-column with one of a, b',
  );
});

test('a known file is downloaded once, with the commit of the hub', async () => {
  let downloads = 0;
  const hosts = await hub([]);
  await new Promise((resolve) => server?.close(resolve));
  const files = createServer((_, response) => {
    downloads++;
    response
      .writeHead(200, { 'x-repo-commit': REVISION, connection: 'close' })
      .end('TIMESTAMP,ContextTokens,GeneratedTokens\n');
  });
  server = files;
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/data/trace.csv`;
  const known = { ...hosts, knownFiles: { 'azure-2023-conv': url } };
  const first = await namedDataset('azure-2023-conv', OPTIONS, known);
  expect(await readFile(first.path, 'utf8')).toContain('ContextTokens');
  expect(first.source).toEqual({ name: 'azure-2023-conv', revision: REVISION });
  expect(await namedDataset('azure-2023-conv', OPTIONS, known)).toEqual(first);
  expect(downloads).toBe(1);
});
