import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataOf } from '../media/media-urls.ts';
import { audioSeconds, encodeWav } from '../media/synthetic-audio.ts';
import { openDataset, type DatasetRequest, type FileType } from './open-dataset.ts';
import type { Dataset } from './dataset.ts';
import type { RequestedMedia } from './with-media.ts';

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

const SMALL = { kind: 'images', count: 2, sizes: [{ width: 16, height: 16 }], format: 'jpeg' } as const;

function open(requested: RequestedMedia | null, changes: Partial<DatasetRequest> = {}): Promise<Dataset> {
  const media = requested === null ? [] : [requested];
  const request = { inputTokens: 4, outputTokens: 1, seed: 1, repeat: 0, synthetic: {}, file: null, media };
  return openDataset({ ...request, ...changes }, null);
}

const given = (...sources: readonly string[]): RequestedMedia => ({ kind: 'images', count: 2, sources });

async function file(type: FileType, lines: readonly object[]): Promise<Partial<DatasetRequest>> {
  const path = join(folder, `${type}.jsonl`);
  await writeFile(path, lines.map((line) => JSON.stringify(line)).join('\n'));
  return { inputTokens: null, file: { path, type, strategy: 'sequential', blockTokens: null, delayRatio: 1 } };
}

describe('synthetic images', () => {
  const images = SMALL;

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
    ['a number', { ...SMALL, count: 1 }],
    ['a size', { ...SMALL, sizes: [{ width: 16, height: 24 }] }],
    ['a format', { ...SMALL, format: 'png' }],
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
    const video = await file('single_turn', [{ text: 'a', video: 'a.mp4' }]);
    await expect(open(null, video)).rejects.toThrow(':1: video is not supported: text, images and audio only');
  });
});

test('images and audio in bodies of a file are counted, and sent unchanged', async () => {
  const parts = [
    { type: 'text', text: 'a' },
    { type: 'image_url', image_url: { url: gifUrl(1) } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    { type: 'audio_url', audio_url: { url: 'https://example.com/a.wav' } },
  ];
  const source = { type: 'base64', media_type: 'image/gif', data: gif(2).toString('base64') };
  const result = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] };
  const rows = [
    { messages: [{ role: 'user', content: parts }], max_tokens: 4 },
    { messages: [{ role: 'user', content: [result, { type: 'image', source: { type: 'url', url: 'https://e/x' } }] }] },
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: gifUrl(3) }] }] },
    { input: 'text', messages: 'none' },
  ];
  const dataset = await open(null, await file('raw_payload', rows));
  const requests = rows.map((_, position) => dataset.request('measure', position));
  expect(requests.map(({ payload }) => payload)).toEqual(rows);
  expect(requests.map(({ images, audio }) => [images, audio])).toEqual([
    [[gifUrl(1)], ['data:audio/mp3;base64,AAAA', 'https://example.com/a.wav']],
    [[gifUrl(2), 'https://e/x'], undefined],
    [[gifUrl(3)], undefined],
    [undefined, undefined],
  ]);
  expect(dataset.images).toMatchObject({ count: null, source: 'files_and_urls', different: 4 });
  expect(dataset.audio).toMatchObject({ count: null, different: 2 });
});

describe('audio', () => {
  const length_seconds = { mean: 0.5, stddev: 0 };
  const clips = { kind: 'audio', count: 2, length_seconds, sample_rates_hz: [8000] } as const;

  test('of synthetic clips is different in every request, and the same when it is made again', async () => {
    const [dataset, again] = [await open(clips), await open(clips)];
    const urls = (from: Dataset): readonly string[] =>
      Array.from({ length: 5 }, (_, position) => from.request('measure', position).audio ?? []).flat();
    expect(new Set(urls(dataset)).size).toBe(10);
    expect(urls(again)).toEqual(urls(dataset));
    expect(urls(dataset).map(audioSeconds)).toEqual(Array(10).fill(0.5));
    expect(dataset.audio).toEqual({
      ...{ count: 2, source: 'synthetic', length_seconds, sample_rates_hz: [8000] },
      ...{ different: null, sha256: null },
    });
    const longer = await open({ ...clips, length_seconds: { mean: 0.6, stddev: 0 } });
    expect(longer.planSha256).not.toBe(dataset.planSha256);
  });

  test('stands beside images, and stays with its turn', async () => {
    const conversations = { turns: { mean: 2, stddev: 0 }, delay: { mean: 0, stddev: 0, ratio: 1 } };
    const dataset = await open(null, { media: [SMALL, clips], synthetic: { conversations } });
    const [first, second] = [0, 1].map((turn) => dataset.conversation?.('measure', 0).request(turn, ['one']));
    expect(second?.history?.[0]).toMatchObject({ images: first?.images, audio: first?.audio });
    expect([first, second].flatMap((turn) => turn?.audio)).toHaveLength(4);
    expect([dataset.images?.count, dataset.audio?.count]).toEqual([2, 2]);
  });

  test('of a file of requests is a path, an address, or Base64 as AIPerf has it', async () => {
    const wav = encodeWav(Buffer.alloc(32_000), 16_000);
    await writeFile(join(folder, 'second.wav'), wav);
    const rows = [
      { text: 'a', audio: 'second.wav', image: 'photos/1.gif' },
      { text: 'b', audios: ['https://example.com/b.mp3', 'mp3,AAAA'] },
      { text: 'c', audios: [{ name: 'audio', contents: ['second.wav'] }] },
    ];
    const dataset = await open(null, await file('single_turn', rows));
    const url = `data:audio/wav;base64,${wav.toString('base64')}`;
    expect(rows.map((_, position) => dataset.request('measure', position))).toMatchObject([
      { audio: [url], images: [gifUrl(1)] },
      { audio: ['https://example.com/b.mp3', 'data:audio/mp3;base64,AAAA'] },
      { audio: [url] },
    ]);
    expect(dataset.audio).toMatchObject({ count: null, source: 'files_and_urls', different: 3, sample_rates_hz: null });
    expect(dataset.images).toMatchObject({ count: null, source: 'files', different: 1 });
    await expect(open(clips, await file('single_turn', rows))).rejects.toThrow(
      '--audio-clips has no effect with an --input-file that has audio',
    );
    const notes = [{ text: 'a', audio: 'photos/1.gif' }];
    await expect(open(null, await file('single_turn', notes))).rejects.toThrow(
      '1.gif: is not a WAV, MP3, FLAC or Ogg file',
    );
  });
});

test('a data URL has its media type and Base64', () => {
  expect(dataOf(gifUrl(1))).toEqual({ mediaType: 'image/gif', base64: gif(1).toString('base64') });
});
