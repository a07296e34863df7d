import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataOf } from '../images/image-urls.ts';
import { openDataset, type DatasetRequest, type FileType } from './open-dataset.ts';
import type { Dataset } from './dataset.ts';

/** The smallest GIF: a transparent pixel. */
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const gif = (number: number): Buffer => Buffer.concat([GIF, Buffer.from([number])]);
const gifUrl = (number: number): string => `data:image/gif;base64,${gif(number).toString('base64')}`;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-images-'));
  await mkdir(join(folder, 'photos'));
  for (const number of [0, 1, 2]) await writeFile(join(folder, 'photos', `${number}.gif`), gif(number));
  await mkdir(join(folder, 'empty'));
  await writeFile(join(folder, 'photos', 'notes.md'), 'no image');
  await writeFile(join(folder, 'list.txt'), 'photos/2.gif\nhttps://example.com/a.png\n\n');
});
afterAll(() => rm(folder, { recursive: true }));

const SMALL = { kind: 'synthetic', sizes: [{ width: 16, height: 16 }], format: 'jpeg' } as const;

function open(
  images: NonNullable<DatasetRequest['images']> | null,
  changes: Partial<DatasetRequest> = {},
): Promise<Dataset> {
  const request = { inputTokens: 4, outputTokens: 1, seed: 1, repeat: 0, synthetic: {}, file: null, images };
  return openDataset({ ...request, ...changes }, null);
}

const given = (...sources: readonly string[]): NonNullable<DatasetRequest['images']> => ({
  count: 2,
  source: { kind: 'given', sources },
});

async function file(type: FileType, lines: readonly object[]): Promise<Partial<DatasetRequest>> {
  const path = join(folder, `${type}.jsonl`);
  await writeFile(path, lines.map((line) => JSON.stringify(line)).join('\n'));
  return { inputTokens: null, file: { path, type, strategy: 'sequential', blockTokens: null, delayRatio: 1 } };
}

describe('synthetic images', () => {
  const images = { count: 2, source: SMALL };

  test('are different in every request, phase and variant, and the same when it is made again', async () => {
    const [dataset, again, other] = [await open(images), await open(images), await open(images, { repeat: 1 })];
    const urls = (from: Dataset, phase: 'warmup' | 'measure'): readonly string[] =>
      Array.from({ length: 5 }, (_, i) => from.request(phase, i).images ?? []).flat();
    const all = [...urls(dataset, 'warmup'), ...urls(dataset, 'measure'), ...urls(other, 'measure')];
    expect(all).toHaveLength(30);
    expect(new Set(all).size).toBe(30);
    expect(urls(again, 'measure')).toEqual(urls(dataset, 'measure'));
    expect(other.planSha256).toBe(dataset.planSha256);
  });

  test('recur with the requests that recur', async () => {
    const dataset = await open(images, { synthetic: { entries: 2 } });
    const [a, b, c] = [0, 1, 2].map((position) => dataset.request('measure', position));
    expect(c).toEqual(a);
    expect(b?.images).not.toEqual(a?.images);
  });

  test('a turn has its own, and the turns before keep theirs', async () => {
    const conversations = { turns: { mean: 3, stddev: 0 }, delay: { mean: 0, stddev: 0, ratio: 1 } };
    const dataset = await open(images, { synthetic: { conversations, systemPromptTokens: 2 } });
    const conversation = dataset.conversation?.('measure', 0);
    const turns = [0, 1, 2].map((turn) => conversation?.request(turn, ['one', 'two']));
    const [first, second, third] = turns.map((turn) => turn?.images);
    expect(new Set([first, second, third].flat()).size).toBe(6);
    expect(turns[2]?.history?.map(({ role, images: of }) => [role, of])).toEqual([
      ['system', undefined],
      ['user', first],
      ['assistant', undefined],
      ['user', second],
      ['assistant', undefined],
    ]);
  });

  test.each([
    ['a number', { count: 1, source: SMALL }],
    ['a size', { count: 2, source: { ...SMALL, sizes: [{ width: 16, height: 24 }] } }],
    ['a format', { count: 2, source: { ...SMALL, format: 'png' } }],
    ['no images', null],
  ] as const)('another plan has %s', async (_, other) => {
    expect((await open(other)).planSha256).not.toBe((await open(images)).planSha256);
  });
});

describe('given images', () => {
  test('of a folder are sent in the order of their names, and again from the first', async () => {
    const dataset = await open(given(join(folder, 'photos')));
    const sent = [0, 1].map((position) => dataset.request('measure', position).images);
    expect(sent).toEqual([
      [gifUrl(0), gifUrl(1)],
      [gifUrl(2), gifUrl(0)],
    ]);
    expect(dataset.images).toMatchObject({ count: 2, source: 'files', different: 3, sizes: null });
  });

  test('of patterns, files and lists of paths and addresses', async () => {
    const dataset = await open(given(join(folder, 'photos/[01].gif'), join(folder, 'list.txt')));
    expect([0, 1].map((position) => dataset.request('measure', position).images)).toEqual([
      [gifUrl(0), gifUrl(1)],
      [gifUrl(2), 'https://example.com/a.png'],
    ]);
    expect(dataset.images).toMatchObject({ source: 'files_and_urls', different: 4 });
    expect((await open(given('https://example.com/a.png'))).images).toMatchObject({ source: 'urls', different: 1 });
  });

  test('another plan has other bytes under the same name', async () => {
    const path = join(folder, 'changes.gif');
    await writeFile(path, gif(7));
    const before = await open(given(path));
    await writeFile(path, gif(8));
    expect((await open(given(path))).planSha256).not.toBe(before.planSha256);
  });

  test.each([
    ['photos/notes.md', 'notes.md: is not a PNG, JPEG, GIF or WebP image'],
    ['nothing', 'nothing: there is no such file, folder or pattern'],
    ['empty', 'empty: it has no images'],
  ])('%s', async (source, message) => {
    await expect(open(given(join(folder, source)))).rejects.toThrow(message);
  });
});

describe('images of a file of requests', () => {
  test('are paths below its folder, URLs and data URLs, also in the form of AIPerf', async () => {
    const rows = [
      { text: 'a', image: 'photos/1.gif' },
      { text: 'b', images: ['https://example.com/b.png', gifUrl(9)] },
      { text: 'c', images: [{ name: 'image', contents: ['photos/2.gif'] }] },
      { text: 'd', images: [] },
    ];
    const dataset = await open(null, await file('single_turn', rows));
    expect(rows.map((_, position) => dataset.request('measure', position).images)).toEqual([
      [gifUrl(1)],
      ['https://example.com/b.png', gifUrl(9)],
      [gifUrl(2)],
      undefined,
    ]);
    expect(dataset.images).toMatchObject({ count: null, source: 'files_and_urls', different: 4 });
  });

  test('stay with their turns', async () => {
    const turns = [{ text: 'a', image: 'photos/0.gif' }, { text: 'b' }, { text: 'c', image: 'photos/1.gif' }];
    const dataset = await open(null, await file('multi_turn', [{ turns }]));
    const last = dataset.conversation?.('measure', 0).request(2, ['one', 'two']);
    expect(last?.images).toEqual([gifUrl(1)]);
    expect(last?.history?.map(({ images }) => images)).toEqual([[gifUrl(0)], undefined, undefined, undefined]);
  });

  test('are not mixed with others, and no endpoint that reads texts takes them', async () => {
    const rows = await file('single_turn', [{ text: 'a', image: 'photos/1.gif' }]);
    await expect(open(given(folder), rows)).rejects.toThrow(
      '--images has no effect with an --input-file that has images',
    );
    await expect(open(null, { ...rows, takes: 'texts' })).rejects.toThrow(':1: image is not supported: text only');
    await expect(open(null, await file('single_turn', [{ text: 'a', image: 'none.png' }]))).rejects.toThrow(
      'none.png: the image cannot be read (ENOENT)',
    );
    const audio = await file('single_turn', [{ text: 'a', audio: 'a.wav' }]);
    await expect(open(null, audio)).rejects.toThrow(':1: audio is not supported: text and images only');
  });
});

test('a data URL has its media type and Base64', () => {
  expect(dataOf(gifUrl(1))).toEqual({ mediaType: 'image/gif', base64: gif(1).toString('base64') });
});
