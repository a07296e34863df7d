import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  distributionOf,
  importedRun,
  importInto,
  inTemporaryFolder,
  measureOf,
  scalarOf,
} from '../testing/import-folder.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname;
const STAGES = join(FIXTURES, 'stages');
const CONCURRENT = join(FIXTURES, 'concurrent');

interface Statistics {
  readonly mean: number;
  readonly median: number;
  readonly p99: number;
}
interface StageFile {
  readonly benchmark_time_seconds: number;
  readonly load_summary: { readonly count: number };
  readonly successes: {
    readonly count: number;
    readonly latency: Readonly<Record<string, Statistics>>;
    readonly throughput: Readonly<Record<string, number>>;
    readonly output_tokens: Statistics & { readonly total: number };
    readonly prompt_tokens: Statistics;
  };
  readonly failures: { readonly count: number };
}

const stageFile = async (folder: string, stage: number): Promise<StageFile> =>
  JSON.parse(await readFile(join(folder, `stage_${stage}_lifecycle_metrics.json`), 'utf8')) as StageFile;

describe('two stages of a constant rate, with their requests', () => {
  test('are two runs of a group, with the records that belong to each', () =>
    inTemporaryFolder(async (folder) => {
      const all = await importInto(folder, [STAGES]);
      expect(all.report.outcomes).toMatchObject([
        { status: 'imported', tool: 'inference-perf', name: 'stages (stage 0)', disagreements: 0 },
        { status: 'imported', tool: 'inference-perf', name: 'stages (stage 1)', disagreements: 0 },
      ]);
      expect(all.report.unrecognized).toEqual([]);
      const groups = new Set<string | null>();
      for (const stage of [0, 1]) {
        const file = await stageFile(STAGES, stage);
        const { run, result, records } = await importedRun(all, stage);
        groups.add(run.group_id);
        expect(run).toMatchObject({
          step: stage,
          tool: { name: 'inference-perf' },
          target: { origin: 'http://127.0.0.1:23461', system: 'vllm' },
          comparison_key: {
            model: 'sim-model',
            endpoint_type: 'completions',
            streaming: true,
            load: { mode: 'request_rate', request_rate: [6, 12][stage], arrival_pattern: 'constant' },
            stop: { benchmark_duration_seconds: 2 },
          },
        });
        expect(records).toHaveLength(file.load_summary.count);
        expect(result.requests).toMatchObject({ ok: file.successes.count, error: file.failures.count });
        expect(result.errors).toEqual(file.failures.count === 0 ? {} : { http_5xx: file.failures.count });
        expect(result.window.seconds).toBeCloseTo(file.benchmark_time_seconds, 6);
      }
      expect(groups.size).toBe(1);
    }));

  test('times are those of the tool, tokens those of the server', () =>
    inTemporaryFolder(async (folder) => {
      const all = await importInto(folder, [STAGES]);
      for (const stage of [0, 1]) {
        const { latency, throughput, output_tokens, prompt_tokens } = (await stageFile(STAGES, stage)).successes;
        const { result, run } = await importedRun(all, stage);
        const ttft = distributionOf(result, 'time_to_first_token');
        expect(ttft.mean).toBeCloseTo(latency['time_to_first_token']?.mean ?? NaN, 6);
        expect(ttft.percentiles.p50.value).toBeCloseTo(latency['time_to_first_token']?.median ?? NaN, 6);
        expect(ttft.percentiles.p99.value).toBeCloseTo(latency['time_to_first_token']?.p99 ?? NaN, 6);
        expect(scalarOf(result, 'request_throughput').value).toBeCloseTo(throughput['requests_per_sec'] ?? NaN, 6);
        expect(distributionOf(result, 'output_sequence_length')).toMatchObject({
          definition: 'usage_completion_tokens',
        });
        expect(distributionOf(result, 'output_sequence_length').mean).toBeCloseTo(output_tokens.mean, 9);
        expect(distributionOf(result, 'input_sequence_length').mean).toBeCloseTo(prompt_tokens.mean, 9);
        // The tool divides by the token counts of its own tokenizer.
        expect(distributionOf(result, 'inter_token_latency').definition).toBe('per_request_mean_from_usage');
        expect(run.source?.notes.join('\n')).toContain('per_request_mean_from_tokenizer');
        expect(measureOf(result, 'time_per_output_token').definition).toBe('request_latency_over_output_tokens');
        // From the part of llm-d's report that is written next to them.
        expect(run.start).toMatch(/^2026-11-22T22:/);
      }
    }));

  test('a request has the times of its chunks, and what was requested', () =>
    inTemporaryFolder(async (folder) => {
      const { records } = await importedRun(await importInto(folder, [STAGES]), 1);
      const file = JSON.parse(await readFile(join(STAGES, 'per_request_lifecycle_metrics.json'), 'utf8')) as {
        start_time: number;
        end_time: number;
        request: string;
        info: {
          response_metrics: { output_token_times: number[]; server_usage: { completion_tokens: number } } | null;
        };
      }[];
      const zero_s = Math.min(...file.slice(-records.length).map(({ start_time }) => start_time));
      const ok = records.filter(({ outcome }) => outcome === 'ok');
      for (const record of ok) {
        const request = file.find(({ start_time }) => Math.abs(start_time - zero_s - record.sent_ns / 1e9) < 1e-8);
        const times = [...new Set(request?.info.response_metrics?.output_token_times)];
        expect(record.chunk_offsets_ns).toHaveLength(times.length);
        expect((record.chunk_offsets_ns[0] ?? NaN) / 1e9).toBeCloseTo(
          (times[0] ?? NaN) - (request?.start_time ?? NaN),
          7,
        );
        expect(record.output_tokens).toBe(request?.info.response_metrics?.server_usage.completion_tokens);
        expect(request?.request).toContain(`"max_tokens": ${record.requested_output_tokens}`);
      }
      expect(ok.length).toBeGreaterThan(10);
    }));

  test('the requests of all stages are not those of the only one whose report is there', () =>
    inTemporaryFolder(async (folder) => {
      const copy = join(folder, 'stages');
      await cp(STAGES, copy, { recursive: true });
      for (const name of ['stage_0_lifecycle_metrics.json', 'summary_lifecycle_metrics.json'])
        await rm(join(copy, name), { force: true });
      const { run, result, records } = await importedRun(await importInto(join(folder, 'runs'), [copy]));
      const { successes, benchmark_time_seconds: seconds } = await stageFile(STAGES, 1);
      expect(records).toEqual([]);
      expect(result.requests.ok).toBe(successes.count);
      expect(result.window.seconds).toBe(seconds);
      expect(run.source?.notes.join()).toMatch(/it has 36 requests, the stages count 24: they are not imported/);
    }));

  test('a stage whose size its requests contradict gives no records, and its own figures are used', () =>
    inTemporaryFolder(async (folder) => {
      const copy = join(folder, 'copy');
      await cp(STAGES, copy, { recursive: true });
      const path = join(copy, 'per_request_lifecycle_metrics.json');
      const requests = JSON.parse(await readFile(path, 'utf8')) as unknown[];
      await writeFile(path, JSON.stringify(requests.slice(1)));
      const { run, result, records } = await importedRun(await importInto(join(folder, 'runs'), [copy]));
      expect(records).toEqual([]);
      expect(result.requests.ok).toBe((await stageFile(STAGES, 0)).successes.count);
      expect(run.source?.notes.join('\n')).toMatch(/not imported/);
    }));
});

describe('stages without requests', () => {
  test('give the figures of the tool under its definitions, and goodput with its limits', () =>
    inTemporaryFolder(async (folder) => {
      const copy = join(folder, 'copy');
      await cp(CONCURRENT, copy, { recursive: true });
      await rm(join(copy, 'per_request_lifecycle_metrics.json'));
      const all = await importInto(join(folder, 'runs'), [copy]);
      expect(all.report.outcomes).toMatchObject([{ status: 'imported', name: 'copy' }]);
      const { run, result } = await importedRun(all);
      const file = await stageFile(CONCURRENT, 0);
      expect(run.comparison_key.load).toMatchObject({ mode: 'concurrency', concurrency: 2 });
      expect(run.comparison_key.stop.request_count).toBe(12);
      expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
        definition: 'sent_to_first_output_chunk',
        mean: file.successes.latency['time_to_first_token']?.mean,
        percentiles: { p50: { value: file.successes.latency['time_to_first_token']?.median } },
      });
      expect(distributionOf(result, 'request_latency')).toMatchObject({ n: 12, definition: 'sent_to_end_of_answer' });
      // With `use_server_output_tokens`.
      expect(distributionOf(result, 'inter_token_latency').definition).toBe('per_request_mean_from_usage');
      expect(distributionOf(result, 'inter_chunk_latency').definition).toBe('gap_between_tokens_of_chunks');
      expect(result.window.seconds).toBe(file.benchmark_time_seconds);
      expect(scalarOf(result, 'goodput').definition).toBe('good_requests_over_window[tpot<=0.05,ttft<=0.03]');
    }));

  test('the summary is read where there are no stages', () =>
    inTemporaryFolder(async (folder) => {
      const alone = join(folder, 'alone');
      await mkdir(alone);
      await cp(join(STAGES, 'summary_lifecycle_metrics.json'), join(alone, 'summary_lifecycle_metrics.json'));
      const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [alone]));
      const [first, second] = [await stageFile(STAGES, 0), await stageFile(STAGES, 1)];
      expect(result.requests.ok).toBe(first.successes.count + second.successes.count);
      expect(run.start).toBeNull();
      expect(run.source?.notes.join()).toContain('config.yaml is missing');
      expect(measureOf(result, 'inter_token_latency').definition).toBe('per_request_mean_tokens_of_unknown_source');
    }));
});

test('what is not imported is counted with its reason; the summary alone says that it mixes the stages', () =>
  inTemporaryFolder(async (folder) => {
    const stages = new URL('fixtures/stages/', import.meta.url).pathname;
    const both = await importInto(join(folder, 'a'), [stages]);
    expect(both.report.passedOver).toEqual([
      { tool: 'inference-perf', reason: 'checks of the reports' },
      // The summary.
      { tool: 'inference-perf', reason: 'repeated by other files of the result' },
    ]);
    const alone = await importedRun(
      await importInto(join(folder, 'b'), [join(stages, 'summary_lifecycle_metrics.json')]),
    );
    expect(alone.run.source?.notes).toContain('the report is the summary of all stages: its figures mix their loads');
  }));
