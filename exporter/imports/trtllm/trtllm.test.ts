import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ImportNotes } from '../import-notes.ts';
import {
  distributionOf,
  importedRun,
  importInto,
  inTemporaryFolder,
  measureOf,
  scalarOf,
} from '../testing/import-folder.ts';
import { jsonOfPython } from './trtllm.ts';
import { engineRecords, engineRequests } from './report-figures.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname;

interface Report {
  performance: Record<string, number> & { request_latency_percentiles_ms: Record<string, number> };
  streaming_metrics: { ttft_percentiles: Record<string, number>; avg_tpot_ms: number };
  request_info: Record<string, number>;
}

async function report(): Promise<Report> {
  return JSON.parse(await readFile(join(FIXTURES, 'report.json'), 'utf8')) as Report;
}

/** Imports copies of some of the fixtures, changed or not. */
function importing<T>(
  files: Readonly<Record<string, string | object>>,
  look: (all: Awaited<ReturnType<typeof importInto>>) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder(async (folder) => {
    for (const [name, from] of Object.entries(files)) {
      if (typeof from === 'string') await copyFile(join(FIXTURES, from), join(folder, name));
      else await writeFile(join(folder, name), JSON.stringify(from));
    }
    return look(await importInto(join(folder, 'runs'), [folder]));
  });
}

test('a report with its requests is one run, whose throughput its records confirm', () =>
  importing({ 'a.json': 'report.json', 'b.json': 'requests.json' }, async (all) => {
    expect(all.report.outcomes).toMatchObject([{ status: 'imported', tool: 'trtllm-bench', disagreements: 0 }]);
    const { performance, streaming_metrics } = await report();
    const { run, result, records } = await importedRun(all);
    expect(run).toMatchObject({
      start: null,
      target: { system: 'trtllm', system_version: '1.2.1' },
      comparison_key: { model: 'meta-llama/Llama-3.1-8B', streaming: true },
    });
    expect(records).toHaveLength(12);
    expect(result.window.seconds).toBeCloseTo((performance['total_latency_ms'] ?? NaN) / 1000, 9);
    expect(scalarOf(result, 'request_throughput')).toMatchObject({ definition: 'ok_requests_over_window' });
    expect(scalarOf(result, 'output_token_throughput').value).toBeCloseTo(
      performance['system_output_throughput_tok_s'] ?? NaN,
      6,
    );
    const ttft = distributionOf(result, 'time_to_first_token');
    expect(ttft.definition).toBe('engine_request_to_first_token');
    expect(ttft.mean).toBeCloseTo((streaming_metrics.ttft_percentiles['average'] ?? NaN) / 1000, 9);
    expect(distributionOf(result, 'inter_token_latency').mean).toBeCloseTo(streaming_metrics.avg_tpot_ms / 1000, 9);
  }));

test('a report alone gives the percentiles that it reports', () =>
  importing({ 'a.json': 'report.json' }, async (all) => {
    const { performance } = await report();
    const { result, records } = await importedRun(all);
    expect(records).toEqual([]);
    const latency = distributionOf(result, 'request_latency');
    const reported = performance.request_latency_percentiles_ms;
    expect(latency).toMatchObject({ definition: 'engine_request_to_last_token', n: 12, std: null });
    expect(latency.percentiles.p90.value).toBeCloseTo((reported['p90'] ?? NaN) / 1000, 12);
    expect(latency.percentiles.p25.value).toBeNull();
    expect(result.requests.ok).toBe(12);
  }));

test('a report that was not streamed has no time to first token', async () => {
  const whole: Partial<Report> = await report();
  delete whole.streaming_metrics;
  await importing({ 'a.json': whole }, async (all) => {
    const { run, result } = await importedRun(all);
    expect(run.comparison_key.streaming).toBe(false);
    expect(() => measureOf(result, 'time_to_first_token')).toThrow();
  });
});

test('figures that cannot belong together, and percentiles that the requests contradict, are reported', async () => {
  const wrong = await report();
  wrong.performance['request_throughput_req_s'] = 999;
  wrong.performance.request_latency_percentiles_ms['p95'] = 1;
  await importing({ 'a.json': wrong, 'b.json': 'requests.json' }, async (all) => {
    const notes = (await importedRun(all)).run.source?.notes ?? [];
    expect(notes).toContainEqual(
      expect.stringMatching(/^disagrees: request latency p95: the file states 0\.001 seconds/),
    );
    expect(notes).toContainEqual(expect.stringMatching(/^disagrees: request_throughput_req_s: the file states 999/));
  });
});

test('two runs in a folder are distinguished by their names', () =>
  importing(
    { 'report_c4.json': 'report.json', 'requests_c4.json': 'requests.json', 'report_c8.json': { ...EMPTY_REPORT } },
    async ({ report: { outcomes } }) => {
      expect(outcomes.map(({ name, status }) => [name, status])).toEqual([
        ['report_c4.json', 'imported'],
        ['report_c8.json', 'imported'],
      ]);
    },
  ));

const EMPTY_REPORT = { engine: { model: 'm' }, world_info: {}, request_info: { num_requests: 3 }, performance: {} };

describe('an iteration log', () => {
  test('adds what the engine reported of each iteration', () =>
    importing({ 'a.json': 'report.json', 'i.log': 'iterations.log' }, async (all) => {
      expect(all.report.outcomes).toHaveLength(1);
      const { result } = await importedRun(all);
      const found = result.measures.find(({ measure }) => measure === 'iteration_latency');
      expect(found).toMatchObject({ origin: 'server', unit: 'seconds', n: 6 });
      // iterLatencyMS of its first line is 28.318.
      expect(found?.kind === 'distribution' && found.min).toBeCloseTo(0.028318, 9);
    }));

  test('alone is refused', () =>
    importing({ 'i.log': 'iterations.log' }, async ({ report: { outcomes } }) => {
      expect(outcomes).toMatchObject([{ status: 'refused', reason: expect.stringContaining('without a result') }]);
      await Promise.resolve();
    }));

  test("Python's way of writing a dict becomes JSON", () => {
    const python = `{'a': None, 'b': True, "it's": 'say "x"', 'c': [1.5, nan], 'd': 'don\\'t'}`;
    expect(JSON.parse(jsonOfPython(python))).toEqual({
      a: null,
      b: true,
      "it's": 'say "x"',
      c: [1.5, null],
      d: "don't",
    });
  });
});

describe('requests with faults', () => {
  const GOOD = {
    id: 1,
    num_input_tokens: 5,
    start_timestamp: 100,
    first_token_timestamp: 150,
    end_timestamp: 300,
    num_output_tokens: 4,
  };

  test.each([
    ['no time of sending', { ...GOOD, start_timestamp: null }],
    ['a time that is text', { ...GOOD, start_timestamp: '100' }],
    ['no object', 7],
  ])('%s: left out and counted', (_, value) => {
    const notes = new ImportNotes();
    expect(engineRequests([GOOD, value], notes)).toHaveLength(1);
    expect(notes.lines).toEqual(['1 × requests left out: no time of sending (first: request 1)']);
  });

  test('one that never finished is an error without a finish', async () => {
    const requests = engineRequests(
      [GOOD, { ...GOOD, end_timestamp: -1, first_token_timestamp: -1 }],
      new ImportNotes(),
    );
    const records: unknown[] = [];
    for await (const record of engineRecords(requests)) records.push(record);
    expect(records).toMatchObject([
      { outcome: 'ok', sent_ns: 0, end_ns: 200, output_tokens: 4 },
      { outcome: 'error', reason: 'no_finish', output_tokens: null },
    ]);
  });
});

test('fewer requests than the report counts: the figures are those of the report', async () => {
  const requests = JSON.parse(await readFile(join(FIXTURES, 'requests.json'), 'utf8')) as object[];
  await importing({ 'report.json': 'report.json', 'requests.json': requests.slice(0, 4) }, async (all) => {
    expect(all.report.outcomes).toMatchObject([{ status: 'imported', disagreements: 0 }]);
    const { performance } = await report();
    const { run, result } = await importedRun(all);
    expect(run.comparison_key.stop.request_count).toBe(12);
    expect(result.requests).toMatchObject({ ok: 12, error: null });
    expect(result.window.seconds).toBeCloseTo((performance['total_latency_ms'] ?? NaN) / 1000, 9);
    expect(distributionOf(result, 'request_latency')).toMatchObject({
      n: 12,
      mean: expect.closeTo((performance['avg_request_latency_ms'] ?? NaN) / 1000, 9),
    });
    expect(scalarOf(result, 'output_token_throughput').value).toBe(performance['system_output_throughput_tok_s']);
    expect(run.source?.notes).toContainEqual(expect.stringMatching(/^the records are a sample, 4 of 12 ok requests/));
  });
});

test('a report that counts no request has no latencies', async () => {
  const whole = await report();
  whole.request_info['num_requests'] = 0;
  await importing({ 'report.json': whole }, async (all) => {
    const { run, result } = await importedRun(all);
    expect(result.requests.ok).toBe(0);
    expect(distributionOf(result, 'request_latency')).toMatchObject({ n: 0, mean: null });
    expect(scalarOf(result, 'output_token_throughput').value).toBeNull();
    expect(run.source?.notes).toContainEqual(expect.stringMatching(/figures of 0 requests read as unknown/));
  });
});
