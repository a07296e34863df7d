import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { distributionOf, importedRun, importInto, inTemporaryFolder, scalarOf } from '../testing/import-folder.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname;
const FOUR = 'D60_16_text-to-text_num_concurrency_4_time_2s.json';

interface Statistics {
  mean: number;
  stddev: number;
  p99: number;
  sum: number;
}
interface Result {
  aggregated_metrics: {
    run_duration: number;
    requests_per_second: number;
    num_completed_requests: number;
    stats: Record<string, Statistics>;
  };
  individual_request_metrics: Record<string, number | null>[];
  _time_unit: string;
}

const result = async (name: string): Promise<Result> =>
  JSON.parse(await readFile(join(FIXTURES, name), 'utf8')) as Result;

test('an experiment is a group with a run per concurrency', () =>
  inTemporaryFolder(async (folder) => {
    const all = await importInto(folder, [FIXTURES]);
    expect(all.report.outcomes).toMatchObject([
      { status: 'imported', tool: 'genai-bench', disagreements: 0 },
      { status: 'imported', tool: 'genai-bench', disagreements: 0 },
    ]);
    const [one, four] = [await importedRun(all, 0), await importedRun(all, 1)];
    expect([one, four].map(({ run }) => [run.step, run.comparison_key.load?.concurrency])).toEqual([
      [0, 1],
      [1, 4],
    ]);
    expect(one.run.group_id).toBe(four.run.group_id);
    expect(four.run).toMatchObject({
      start: null,
      scenario: 'D(60,16)',
      tool: { name: 'genai-bench', version: '0.0.5' },
      target: { origin: 'http://127.0.0.1:23461', system: 'vllm', system_version: '0.32.0' },
      comparison_key: { model: 'sim-model', endpoint_type: 'chat', stop: { request_count: 20 } },
    });
    const { aggregated_metrics: aggregate } = await result(FOUR);
    expect(four.result.requests.ok).toBe(aggregate.num_completed_requests);
    expect(four.result.window.seconds).toBe(aggregate.run_duration);
    expect(scalarOf(four.result, 'request_throughput').value).toBe(aggregate.requests_per_second);
    const ttft = distributionOf(four.result, 'time_to_first_token');
    expect(ttft.mean).toBeCloseTo(aggregate.stats['ttft']?.mean ?? NaN, 9);
    expect(ttft.std).toBeCloseTo(aggregate.stats['ttft']?.stddev ?? NaN, 9);
    expect(ttft.percentiles.p99.value).toBeCloseTo(aggregate.stats['ttft']?.p99 ?? NaN, 9);
    expect(distributionOf(four.result, 'inter_token_latency').definition).toBe(
      'per_request_mean_to_end_of_answer_tokens_of_unknown_source',
    );
    // The API key of the command line is nowhere.
    expect(JSON.stringify(four.run)).not.toContain('api-key');
  }));

test('failed requests are counted by status', () =>
  inTemporaryFolder(async (folder) => {
    const { result: one } = await importedRun(await importInto(folder, [FIXTURES]));
    const { individual_request_metrics: listed } = await result('D60_16_text-to-text_num_concurrency_1_time_4s.json');
    const ok = listed.filter(({ error_code: code }) => code === null).length;
    expect(listed.filter(({ error_code: code }) => code === 503)).toHaveLength(4);
    expect(one.requests).toMatchObject({ ok, error: 4 });
    expect(one.errors).toEqual({ http_5xx: 4 });
    expect(distributionOf(one, 'time_to_first_token').n).toBe(ok);
  }));

test('milliseconds, and figures without the warm-up', () =>
  inTemporaryFolder(async (folder) => {
    const file = await result(FOUR);
    const values = file.individual_request_metrics.map((each) => ({ ...each, ttft: (each['ttft'] ?? NaN) * 1000 }));
    const ms = { ...file, individual_request_metrics: values, _time_unit: 'ms' };
    const statistics = ms.aggregated_metrics.stats['ttft'];
    const seconds = statistics?.mean ?? NaN;
    for (const name of ['ttft', 'tpot', 'e2e_latency']) {
      const each = ms.aggregated_metrics.stats[name] as unknown as Record<string, number>;
      for (const key of Object.keys(each)) each[key] = (each[key] ?? NaN) * 1000;
    }
    for (const each of values)
      for (const name of ['tpot', 'e2e_latency'])
        Object.assign(each, { [name]: ((each as Record<string, number>)[name] ?? NaN) * 1000 });
    await writeFile(join(folder, 'ms.json'), JSON.stringify(ms));
    const all = await importInto(join(folder, 'runs'), [join(folder, 'ms.json')]);
    expect(all.report.outcomes).toMatchObject([{ status: 'imported', disagreements: 0 }]);
    expect(distributionOf((await importedRun(all)).result, 'time_to_first_token').mean).toBeCloseTo(seconds, 9);
    // Of --warmup-ratio: the sums are of fewer requests than are listed.
    const tokens = ms.aggregated_metrics.stats['num_input_tokens'];
    if (tokens !== undefined) tokens.sum -= 25;
    await writeFile(join(folder, 'warm.json'), JSON.stringify(ms));
    const warm = await importedRun(await importInto(join(folder, 'warm'), [join(folder, 'warm.json')]));
    expect(distributionOf(warm.result, 'time_to_first_token')).toMatchObject({ n: null });
    expect(warm.result.measures.map(({ measure }) => measure)).not.toContain('output_token_throughput');
    expect(warm.run.source?.notes.join()).toContain('without the warm-up and cool-down');
  }));

test.each([null, -1])('a time to first token of %p leaves the figures of the tool', (value) =>
  inTemporaryFolder(async (folder) => {
    const changed = await result(FOUR);
    const request = changed.individual_request_metrics.find(({ ttft }) => ttft !== null);
    Object.assign(request ?? {}, { ttft: value });
    await writeFile(join(folder, FOUR), JSON.stringify(changed));
    const { result: read } = await importedRun(await importInto(join(folder, 'runs'), [join(folder, FOUR)]));
    const { ttft, e2e_latency: latency } = changed.aggregated_metrics.stats;
    expect(distributionOf(read, 'time_to_first_token')).toMatchObject({ n: null, mean: ttft?.mean });
    expect(distributionOf(read, 'request_latency').n).toBe(changed.aggregated_metrics.num_completed_requests);
    expect(distributionOf(read, 'request_latency').mean).toBeCloseTo(latency?.mean ?? NaN, 9);
  }),
);

test('without its metadata', () =>
  inTemporaryFolder(async (folder) => {
    const copy = join(folder, 'copy');
    await cp(FIXTURES, copy, { recursive: true });
    await rm(join(copy, 'experiment_metadata.json'));
    const { run } = await importedRun(await importInto(join(folder, 'runs'), [copy]));
    expect(run.comparison_key.model).toBeNull();
    expect(run.source?.notes.join()).toContain('experiment_metadata.json is missing');
  }));
