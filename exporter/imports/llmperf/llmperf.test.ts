import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { distributionOf, importedRun, importInto, inTemporaryFolder, scalarOf } from '../testing/import-folder.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname;
const SUMMARY = 'sim-model_1500_16_summary.json';
const RESPONSES = 'sim-model_1500_16_individual_responses.json';

const summary = async (): Promise<Record<string, number>> =>
  JSON.parse(await readFile(join(FIXTURES, SUMMARY), 'utf8')) as Record<string, number>;

test('the summary and its responses are one run', () =>
  inTemporaryFolder(async (folder) => {
    const all = await importInto(folder, [FIXTURES]);
    expect(all.report.outcomes).toMatchObject([{ status: 'imported', tool: 'llmperf', disagreements: 0 }]);
    const { run, result } = await importedRun(all);
    const reported = await summary();
    expect(run).toMatchObject({
      comparison_key: { model: 'sim-model', load: { mode: 'concurrency', concurrency: 2 } },
      source: { format: 'llmperf', format_version: '2023-08-31' },
    });
    expect(result.requests).toMatchObject({ ok: 29, error: 0 });
    const seconds = (29 * 60) / (reported['results_num_completed_requests_per_min'] ?? NaN);
    expect(result.window.seconds).toBeCloseTo(seconds, 9);
    expect(Date.parse(run.start ?? '') / 1000).toBeCloseTo((reported['timestamp'] ?? NaN) - seconds, 2);
    const ttft = distributionOf(result, 'time_to_first_token');
    expect(ttft).toMatchObject({ n: 29, definition: 'sent_to_first_output_chunk' });
    expect(ttft.mean).toBeCloseTo(reported['results_ttft_s_mean'] ?? NaN, 9);
    expect(ttft.percentiles.p95.value).toBeCloseTo(reported['results_ttft_s_quantiles_p95'] ?? NaN, 9);
    expect(distributionOf(result, 'request_latency').max).toBe(reported['results_end_to_end_latency_s_max']);
    expect(distributionOf(result, 'output_sequence_length').definition).toBe('tokenizer_completion_tokens');
    // What it calls inter-token latency holds the first token.
    expect(distributionOf(result, 'time_per_output_token').definition).toBe('time_to_last_chunk_over_chunks_or_tokens');
    expect(result.measures.map(({ measure }) => measure)).not.toContain('inter_token_latency');
    expect(scalarOf(result, 'output_token_throughput')).toMatchObject({
      definition: 'ok_tokenizer_output_tokens_over_wall_time',
      value: reported['results_mean_output_throughput_token_per_s'],
    });
  }));

test('a summary alone gives its figures; its errors are by status', () =>
  inTemporaryFolder(async (folder) => {
    const reported = await summary();
    const failed = { ...reported, results_number_errors: 5, results_error_code_frequency: '{503: 4, -1: 1}' };
    await writeFile(join(folder, SUMMARY), JSON.stringify(failed));
    const { result } = await importedRun(await importInto(join(folder, 'runs'), [join(folder, SUMMARY)]));
    expect(result.errors).toEqual({ http_5xx: 4, other: 1 });
    expect(result.requests).toMatchObject({ ok: 29, error: 5 });
    expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
      n: 29,
      mean: reported['results_ttft_s_mean'],
      percentiles: { p50: { value: reported['results_ttft_s_quantiles_p50'] } },
    });
  }));

test('failed responses are in no latency, and a figure that the responses contradict is noted', () =>
  inTemporaryFolder(async (folder) => {
    const list = JSON.parse(await readFile(join(FIXTURES, RESPONSES), 'utf8')) as Record<string, unknown>[];
    // As its client leaves a request that failed.
    const failed = { ...list[0], error_code: 503, error_msg: 'x', ttft_s: 0, end_to_end_latency_s: 0 };
    await writeFile(join(folder, RESPONSES), JSON.stringify([...list, failed]));
    await cp(join(FIXTURES, SUMMARY), join(folder, SUMMARY));
    const all = await importInto(join(folder, 'runs'), [folder]);
    expect(all.report.outcomes).toMatchObject([{ status: 'imported', disagreements: 0 }]);
    expect(distributionOf((await importedRun(all)).result, 'time_to_first_token').n).toBe(29);
    await writeFile(join(folder, RESPONSES), JSON.stringify(list.map((each) => ({ ...each, ttft_s: 1 }))));
    const wrong = await importInto(join(folder, 'wrong'), [folder]);
    expect(wrong.report.outcomes[0]).toMatchObject({ status: 'imported' });
    expect((await importedRun(wrong)).run.source?.notes.join('\n')).toContain('disagrees: ttft_s mean');
  }));

test.each([null, -3])('a time to first token of %p leaves the figures of the summary', (value) =>
  inTemporaryFolder(async (folder) => {
    await cp(join(FIXTURES, SUMMARY), join(folder, SUMMARY));
    const responses = JSON.parse(await readFile(join(FIXTURES, RESPONSES), 'utf8')) as Record<string, unknown>[];
    const changed = responses.map((response, i) => (i === 0 ? { ...response, ttft_s: value } : response));
    await writeFile(join(folder, RESPONSES), JSON.stringify(changed));
    const { result } = await importedRun(await importInto(join(folder, 'runs'), [folder]));
    const reported = await summary();
    const ttft = distributionOf(result, 'time_to_first_token');
    expect(ttft).toMatchObject({ n: null, mean: reported['results_ttft_s_mean'], std: null });
    expect(distributionOf(result, 'request_latency').std).not.toBeNull();
  }),
);

test('responses that are fewer than the completed requests give no figure: the summary does', () =>
  inTemporaryFolder(async (folder) => {
    const list = JSON.parse(await readFile(join(FIXTURES, RESPONSES), 'utf8')) as unknown[];
    await writeFile(join(folder, RESPONSES), JSON.stringify(list.slice(0, 4)));
    await cp(join(FIXTURES, SUMMARY), join(folder, SUMMARY));
    const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [folder]));
    const reported = await summary();
    expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
      n: 29,
      mean: reported['results_ttft_s_mean'],
    });
    expect(distributionOf(result, 'request_latency').mean).toBe(reported['results_end_to_end_latency_s_mean']);
    expect(run.source?.notes).toContain(
      'the responses are a sample, 4 of 29 ok requests: only figures of the summary are values',
    );
  }));
