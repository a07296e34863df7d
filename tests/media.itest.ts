import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runBenchmark } from '../exporter/library/index.ts';
import { startSimulator } from '../simulator/main.ts';
import type { RunningSimulator } from '../simulator/main.ts';

let simulator: RunningSimulator;
let runsDir: string;
beforeAll(async () => {
  simulator = await startSimulator({ system: 'vllm', workers: 1 });
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-media-'));
});
afterAll(async () => {
  await simulator.close();
  await rm(runsDir, { recursive: true, force: true });
});

type Options = Parameters<typeof runBenchmark>[0];
const run = (options: Partial<Options>): ReturnType<typeof runBenchmark> =>
  runBenchmark({
    ...{ url: simulator.url, model: 'sim-model', runsDir, concurrency: 2, requestCount: 6, isl: 10, osl: 3 },
    ...options,
  });

type Result = Awaited<ReturnType<typeof run>>['result'];
const mean = ({ measures }: Result, name: string): number | null => {
  const found = measures.find(({ measure, kind }) => measure === name && kind === 'distribution');
  return found?.kind === 'distribution' ? found.mean : null;
};

/** 60 × 30 pixels: begun patches of 28 × 28 pixels, 3 × 2. */
const TOKENS_OF_IMAGE = 6;

describe.each(['chat', 'responses', 'messages'] as const)('--endpoint-type %s', (endpointType) => {
  test('requests have images, whose number and bytes are in the result', async () => {
    const plain = await run({ endpointType });
    const { result, run: file } = await run({
      endpointType,
      runOptions: { images: 2, 'image-size': '60x30', 'image-format': 'png' },
    });
    expect(result.requests).toEqual({ ok: 6, error: 0, timeout: 0, cancelled: 0 });
    expect(mean(result, 'image_count')).toBe(2);
    const bytes = mean(result, 'image_size') ?? NaN;
    // Base64 has four characters for three bytes, and the rest of a body of 10 words is short.
    expect((mean(result, 'request_size') ?? NaN) - (4 / 3) * bytes).toBeLessThan(1000);
    const input = 'input_sequence_length';
    expect((mean(result, input) ?? NaN) - (mean(plain.result, input) ?? NaN)).toBe(2 * TOKENS_OF_IMAGE);
    // Only chat completions report tokens by modality.
    expect(mean(result, 'image_token_count')).toBe(endpointType === 'chat' ? 2 * TOKENS_OF_IMAGE : null);
    expect(file.dataset?.images).toEqual({
      ...{ count: 2, source: 'synthetic', sizes: [{ width: 60, height: 30 }], format: 'png' },
      ...{ different: null, sha256: null },
    });
    expect(file.fingerprint).not.toBe(plain.run.fingerprint);
    expect(mean(plain.result, 'image_count')).toBeNull();
  });
});

test('audio has its length, bytes and tokens in the result', async () => {
  const plain = await run({});
  const { result, run: file } = await run({
    runOptions: {
      'audio-clips': 2,
      'audio-length-mean': 1.5,
      'audio-sample-rates': '8',
      images: 1,
      'image-size': '60x30',
    },
  });
  expect(result.requests).toEqual({ ok: 6, error: 0, timeout: 0, cancelled: 0 });
  expect(mean(result, 'audio_duration')).toBe(3);
  // A head of 44 bytes, and two bytes per sample.
  const bytes = 2 * (44 + 2 * 1.5 * 8000);
  expect(mean(result, 'audio_size')).toBe(bytes);
  expect(mean(result, 'request_size')).toBeGreaterThan((4 / 3) * bytes);
  // 25 tokens per second, begun ones included: 38 of each clip.
  expect(mean(result, 'audio_token_count')).toBe(76);
  expect(mean(result, 'image_token_count')).toBe(TOKENS_OF_IMAGE);
  const input = 'input_sequence_length';
  expect((mean(result, input) ?? NaN) - (mean(plain.result, input) ?? NaN)).toBe(76 + TOKENS_OF_IMAGE);
  expect(file.dataset?.audio).toEqual({
    ...{ count: 2, source: 'synthetic', length_seconds: { mean: 1.5, stddev: 0 }, sample_rates_hz: [8000] },
    ...{ different: null, sha256: null },
  });
  expect(file.fingerprint).not.toBe(plain.run.fingerprint);
});

test('a later turn repeats the images before it', async () => {
  const { result } = await run({ runOptions: { images: 1, 'image-size': '28x28', 'session-turns-mean': 3 } });
  const count = result.measures.find(({ measure }) => measure === 'image_count');
  // Two conversations of three turns.
  expect(count).toMatchObject({ n: 6, min: 1, mean: 2, max: 3 });
});

test('an API without images or audio is refused before the first request', async () => {
  await expect(run({ endpointType: 'completions', runOptions: { images: 1 } })).rejects.toThrow(
    '--endpoint-type completions has no images: use chat, responses or messages, or remove --images',
  );
  await expect(run({ endpointType: 'responses', runOptions: { 'audio-clips': 1 } })).rejects.toThrow(
    '--endpoint-type responses has no audio: use chat, or remove --audio-clips',
  );
});
