import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { ERROR_REASONS } from '../../core/run/record.ts';
import { EXAMPLE_DATASET, requestRecord, runFile } from './fixtures/run.ts';
import { chooseEndpoint, ENDPOINT_TYPES } from '../load/endpoints/endpoint-types.ts';
import type { LiveMetrics } from './live-metrics.ts';
import { createLiveMetrics } from './live-metrics.ts';

const MS = 1e6;
const golden = (name: string): string => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
const textOf = async (live: LiveMetrics): Promise<string> => (await live.render(undefined)).body;
const seriesOf = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.slice(0, line.lastIndexOf(' '))]));

/** A run's live metrics whose servers' pages have been read. */
function reading(facts: Parameters<typeof createLiveMetrics>[0]): LiveMetrics {
  const live = createLiveMetrics(facts);
  live.targetsRead([
    { target: 'http://gpu-1:8000/metrics', system: 'vllm' },
    { target: 'https://gpu-2/metrics', system: null },
  ]);
  return live;
}

/** A warm-up request, then four of the measure phase: ok, broken after two chunks, timed out without any, under way. */
function play(live: LiveMetrics): void {
  live.phaseStarted('warmup', 0);
  live.requestSent('warmup', 0, 1 * MS);
  live.firstContent('warmup', 50 * MS, 51 * MS);
  live.chunkGap('warmup', 10 * MS);
  live.eventLoopDelay(9 * MS);
  live.requestEnded(requestRecord({ phase: 'warmup', input_tokens: 7, output_tokens: 3 }));
  live.phaseEnded('warmup', 200 * MS);
  live.phaseStarted('measure', 300 * MS);

  live.requestSent('measure', 300 * MS, 300.5 * MS);
  live.firstContent('measure', 120 * MS, 120.5 * MS);
  live.chunkGap('measure', 20 * MS);
  live.chunkGap('measure', 30 * MS);
  live.requestEnded(requestRecord());

  live.requestSent('measure', 310 * MS, 310 * MS);
  live.firstContent('measure', 80 * MS, 80 * MS);
  live.chunkGap('measure', 6 * MS);
  live.requestEnded(requestRecord({ outcome: 'error', reason: 'reset', input_tokens: null, output_tokens: null }));

  live.requestSent('measure', 320 * MS, 700_320 * MS);
  live.requestEnded(
    requestRecord({
      outcome: 'timeout',
      reason: 'request_timeout',
      first_content_ns: null,
      last_content_ns: null,
      input_tokens: null,
      output_tokens: null,
      chunk_offsets_ns: [],
    }),
  );

  live.requestSent('measure', 330 * MS, 331 * MS);
  live.eventLoopDelay(3 * MS);
  live.clientSaturated(true);
}

describe('the live metrics', () => {
  test('every series is there before the first request, at 0', async () => {
    const live = reading({ run: runFile(), version: '0.1.0' });
    expect(await textOf(live)).toBe(golden('before-first-request.txt'));
  });

  test('a run with a cool-down has its phase, and no latency of its requests', async () => {
    const plain = runFile();
    const run = { ...plain, comparison_key: { ...plain.comparison_key, cool_down: true as const } };
    const live = createLiveMetrics({ run, version: '0.1.0' });
    live.phaseStarted('measure', 300 * MS);
    live.requestSent('cooldown', 400 * MS, 401 * MS);
    live.firstContent('cooldown', 50 * MS, 51 * MS);
    live.chunkGap('cooldown', 10 * MS);
    live.phaseEnded('measure', 500 * MS);
    live.phaseStarted('cooldown', 400 * MS);
    live.requestEnded(requestRecord({ phase: 'cooldown', output_tokens: 3 }));
    const text = await textOf(live);
    const labels = 'run_id="20261103T101500Z-abcdefghij",shard="0",phase="cooldown"';
    expect(text).toContain(`llmbench_run_phase{${labels}} 1\n`);
    expect(text).toContain(`llmbench_requests_total{${labels},outcome="ok"} 1\n`);
    expect(text).toContain(`llmbench_output_tokens_total{${labels}} 3\n`);
    for (const line of text.split('\n')) if (/_count\b/.test(line)) expect(line).toMatch(/ 0$/);
    expect(text.match(/phase="cooldown"/g)).toHaveLength(3 + 4 + ERROR_REASONS.length + 3);
  });

  test('the numbers of a run under way', async () => {
    const live = reading({ run: runFile(), version: '0.1.0' });
    play(live);
    expect(await textOf(live)).toBe(golden('under-way.txt'));
  });

  test('texts that were read, images and audio are counted where requests have them', async () => {
    const plain = runFile();
    const images = { count: 1, source: 'urls', sizes: null, format: null, different: 1, sha256: null } as const;
    const ofFiles = { length_seconds: null, sample_rates_hz: null, different: 1, sha256: null };
    const audio = { count: 1, source: 'files', ...ofFiles } as const;
    const run = {
      ...plain,
      comparison_key: { ...plain.comparison_key, endpoint_type: 'rerank' },
      dataset: { ...EXAMPLE_DATASET, images, audio },
    };
    const live = createLiveMetrics({ run, version: '0.1.0' });
    const labels = 'run_id="20261103T101500Z-abcdefghij",shard="0",phase="measure"';
    expect(await textOf(live)).toContain(`llmbench_documents_total{${labels}} 0\n`);
    live.requestEnded(requestRecord({ documents: 10, images: 3, audio_ns: 2.5e9 }));
    live.requestEnded(requestRecord({ documents: 10, images: 3, audio_ns: 2.5e9 }));
    live.requestEnded(requestRecord({ outcome: 'error', reason: 'reset', documents: 10, images: 3, audio_ns: 2.5e9 }));
    const text = await textOf(live);
    expect(text).toContain(`llmbench_documents_total{${labels}} 20\n`);
    expect(text).toContain(`llmbench_images_total{${labels}} 6\n`);
    expect(text).toContain(`llmbench_audio_seconds_total{${labels}} 5\n`);
  });

  test.each(ENDPOINT_TYPES.filter((type) => type !== 'template'))('texts of %s', async (type) => {
    const { endpoint } = chooseEndpoint({ type, model: 'm', stream: null, template: null });
    const plain = runFile();
    const run = { ...plain, comparison_key: { ...plain.comparison_key, endpoint_type: type } };
    const text = await textOf(createLiveMetrics({ run, version: '0.1.0' }));
    expect(text.includes('llmbench_documents_total')).toBe(endpoint.takes !== undefined);
  });

  test('a page that is read late joins the others; one that is not read again stays', async () => {
    const live = reading({ run: runFile(), version: '0.1.0' });
    live.targetsRead([{ target: 'http://gpu-3:9400/metrics', system: 'dcgm' }]);
    const targets = seriesOf(await textOf(live)).filter((series) => series.startsWith('llmbench_run_target_info'));
    expect(targets.map((series) => /address="([^"]*)"/.exec(series)?.[1])).toEqual([
      'gpu-1:8000',
      'gpu-2:443',
      'gpu-3:9400',
    ]);
  });

  test('at most 256 targets, the others are counted', async () => {
    const live = createLiveMetrics({ run: runFile(), version: '0.1.0' });
    const targets = Array.from({ length: 300 }, (_, i) => ({ target: `http://w-${i}:9000/metrics`, system: 'vllm' }));
    live.targetsRead(targets);
    const text = await textOf(live);
    expect(text.match(/^llmbench_run_target_info\{/gm)).toHaveLength(256);
    expect(text).toContain('llmbench_series_dropped_total 44\n');
  });

  test('no series is born or lost while a run lasts, and reading changes nothing', async () => {
    const live = createLiveMetrics({ run: runFile(), version: '0.1.0', isGood: () => true });
    const before = seriesOf(await textOf(live));
    play(live);
    for (const reason of ERROR_REASONS) live.requestEnded(requestRecord({ outcome: 'error', reason }));
    live.phaseEnded('measure', 900 * MS);
    const after = await textOf(live);
    expect(seriesOf(after)).toEqual(before);
    expect(new Set(before).size).toBe(before.length);
    await live.render('application/openmetrics-text; version=1.0.0');
    expect(await textOf(live)).toBe(after);
  });

  test('a phase that has ended: its gauge falls, its end is reported', async () => {
    const live = createLiveMetrics({ run: runFile(), version: '0.1.0' });
    play(live);
    live.phaseEnded('measure', 1_300.25 * MS);
    const text = await textOf(live);
    expect(text).toContain('llmbench_run_phase{run_id="20261103T101500Z-abcdefghij",shard="0",phase="measure"} 0\n');
    // 2026-11-03T10:15:00.250Z is 1793700900.25 in Unix time
    expect(text).toMatch(/llmbench_run_phase_end_timestamp_seconds\{[^}]*phase="measure"\} 1793700901\.55025\n/);
  });

  test('goodput is there only with SLOs, and counts ok requests of the measure phase that met them', async () => {
    const without = createLiveMetrics({ run: runFile(), version: '0.1.0' });
    expect(await textOf(without)).not.toContain('llmbench_good_requests_total');
    const live = createLiveMetrics({ run: runFile(), version: '0.1.0', isGood: ({ index }) => index !== 1 });
    live.requestEnded(requestRecord({ index: 0 }));
    live.requestEnded(requestRecord({ index: 1 }));
    live.requestEnded(requestRecord({ index: 2, outcome: 'error', reason: 'reset' }));
    live.requestEnded(requestRecord({ index: 3, phase: 'warmup' }));
    expect(await textOf(live)).toMatch(/^llmbench_good_requests_total\{.*\} 1$/m);
  });

  test('only shard 0 has llmbench_run_info and what is planned', async () => {
    const live = createLiveMetrics({ run: runFile({ shard: '3' }), version: '0.1.0' });
    const text = await textOf(live);
    expect(text).not.toContain('llmbench_run_info');
    expect(text).not.toContain('llmbench_run_planned');
    expect(text).toMatch(/^llmbench_requests_in_flight\{run_id="[^"]*",shard="3"\} 0$/m);
  });

  test('the planned requests and seconds are those of the whole run, each only if it ends the run', async () => {
    const run = runFile();
    const text = await textOf(createLiveMetrics({ run, version: '0.1.0' }));
    expect(text).toMatch(/^llmbench_run_planned_requests\{run_id="[^"]*"\} 10$/m);
    expect(text).not.toContain('llmbench_run_planned_seconds');
    const stop = { request_count: null, benchmark_duration_seconds: 60 };
    const timed = runFile({ comparison_key: { ...run.comparison_key, stop } });
    const other = await textOf(createLiveMetrics({ run: timed, version: '0.1.0' }));
    expect(other).toMatch(/^llmbench_run_planned_seconds\{run_id="[^"]*"\} 60$/m);
    expect(other).not.toContain('llmbench_run_planned_requests');
  });

  test('OpenMetrics: counters are named without _total in their head, and the end is marked', async () => {
    const live = createLiveMetrics({ run: runFile(), version: '0.1.0' });
    const { contentType, body } = await live.render('application/openmetrics-text;version=1.0.0,text/plain;q=0.5');
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(body).toContain('# TYPE llmbench_chunks counter\nllmbench_chunks_total{');
    expect(body.endsWith('\n# EOF\n')).toBe(true);
    expect(body).not.toContain('\n\n');
    expect(seriesOf(body)).toEqual(seriesOf(await textOf(live)));
  });

  test('a run without a start is refused', () => {
    expect(() => createLiveMetrics({ run: runFile({ start: null }), version: '0.1.0' })).toThrow(RangeError);
  });
});

test('with several models, families of their own count by model, and the others count each request once', async () => {
  const models = [
    { model: 'a', share: 0.75 },
    { model: 'b', share: 0.25 },
  ];
  const run = runFile();
  const model_mix = { models, selection: 'random' as const };
  const live = createLiveMetrics({
    run: { ...run, comparison_key: { ...run.comparison_key, model_mix } },
    version: '1',
  });
  live.requestEnded(requestRecord({ model: 'a' }));
  live.requestEnded(requestRecord({ model: 'b', outcome: 'error', reason: 'reset' }));
  live.requestEnded(requestRecord({ model: 'b', phase: 'warmup' }));
  const text = await textOf(live);
  const value = valueIn(text);
  expect(value('llmbench_by_model_requests_total{model="a",outcome="ok"}')).toBe('1');
  expect(value('llmbench_by_model_requests_total{model="b",outcome="error"}')).toBe('1');
  expect(value('llmbench_by_model_requests_total{model="b",outcome="ok"}')).toBe('0');
  expect(value('llmbench_by_model_request_latency_seconds_count{model="a"}')).toBe('1');
  expect(value('llmbench_by_model_request_latency_seconds_count{model="b"}')).toBe('0');
  expect(text).not.toMatch(/llmbench_requests_total\{[^}]*model=/);
  expect(text).not.toContain('llmbench_by_turn_');
});

test('with conversations, first and later turns have families of their own, without the number of a turn', async () => {
  const live = createLiveMetrics({ run: runFile(), version: '1', hasConversations: true });
  live.requestEnded(requestRecord({ turn: 1 }));
  live.requestEnded(requestRecord({ turn: 2 }));
  live.requestEnded(requestRecord({ turn: 40 }));
  live.requestEnded(requestRecord({ turn: 3, outcome: 'timeout', reason: 'request_timeout' }));
  live.requestEnded(requestRecord({ turn: 1, phase: 'warmup' }));
  const text = await textOf(live);
  const value = valueIn(text);
  expect(value('llmbench_by_turn_requests_total{turn="first",outcome="ok"}')).toBe('1');
  expect(value('llmbench_by_turn_requests_total{turn="later",outcome="ok"}')).toBe('2');
  expect(value('llmbench_by_turn_requests_total{turn="later",outcome="timeout"}')).toBe('1');
  expect(value('llmbench_by_turn_request_latency_seconds_count{turn="first"}')).toBe('1');
  expect(value('llmbench_by_turn_request_latency_seconds_count{turn="later"}')).toBe('2');
  expect(new Set(text.match(/turn="[^"]*"/g))).toEqual(new Set(['turn="first"', 'turn="later"']));
  expect(text).not.toContain('llmbench_by_model_');
});

/** Finds the value of a series of the run's page, without its run and shard. */
const valueIn =
  (text: string) =>
  (series: string): string | undefined =>
    text
      .split('\n')
      .find((line) => line.startsWith(series.replace('{', `{run_id="${runFile().run_id}",shard="0",`)))
      ?.split(' ')[1];
