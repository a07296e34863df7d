import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import {
  distributionOf,
  importedRun,
  importInto,
  inTemporaryFolder,
  measureOf,
  scalarOf,
} from '../testing/import-folder.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname;
const PART = 'inference-perf.partial.stage_1.yaml';

interface Statistics {
  units: string;
  mean: number;
  p50?: number;
  p99p9?: number;
  readonly p99?: number;
}
interface Aggregate {
  requests: { total: number; failures: number; input_length: Statistics };
  latency: Record<string, Statistics>;
  throughput: Record<string, unknown>;
}

const report = async (name: string): Promise<Record<string, unknown>> =>
  parse(await readFile(join(FIXTURES, name), 'utf8')) as Record<string, unknown>;

/** A report of version 0.2 in the form of llm-d-benchmark's schema, around the figures of the real part. */
async function whole(changes: (aggregate: Aggregate) => void = () => undefined): Promise<Record<string, unknown>> {
  const part = (await report(PART)) as { results: { request_performance: { aggregate: Aggregate } } };
  changes(part.results.request_performance.aggregate);
  const engine = { kind: 'inference_engine', tool: 'vllm', tool_version: '0.11.0', model: { name: 'm/one' } };
  return {
    ...part,
    scenario: {
      stack: [
        { metadata: { label: 'epp' }, standardized: { kind: 'generic', tool: 'scheduler', tool_version: '1' } },
        { metadata: { label: 'engine' }, standardized: engine },
      ],
      load: { standardized: { tool: 'inference-perf', tool_version: '0.7.0', stage: 1, rate_qps: 12 } },
    },
  };
}

describe('version 0.2', () => {
  test('is a run with the figures of the report under the definitions of the tool that measured', () =>
    inTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'report.yaml'), stringify(await whole()));
      const all = await importInto(join(folder, 'runs'), [join(folder, 'report.yaml')]);
      expect(all.report.outcomes).toMatchObject([{ status: 'imported', tool: 'llm-d-benchmark' }]);
      const { run, result } = await importedRun(all);
      const part = (await report(PART)) as {
        run: { eid: string; time: { start: string; duration: string } };
        results: { request_performance: { aggregate: Aggregate } };
      };
      const { requests, latency, throughput } = part.results.request_performance.aggregate;
      expect(run).toMatchObject({
        group_id: part.run.eid,
        step: 1,
        start: new Date(part.run.time.start).toISOString(),
        target: { system: 'vllm', system_version: '0.11.0' },
        comparison_key: { model: 'm/one', load: { mode: 'request_rate', request_rate: 12 } },
        source: { format: 'llm-d-benchmark-report', format_version: '0.2.1' },
      });
      expect(result.requests).toMatchObject({ ok: requests.total - requests.failures, error: requests.failures });
      expect(scalarOf(result, 'error_ratio', 'all').value).toBe(requests.failures / requests.total);
      expect(result.window.seconds).toBe(Number(/PT([\d.]+)S/.exec(part.run.time.duration)?.[1]));
      expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
        definition: 'sent_to_first_output_chunk',
        mean: latency['time_to_first_token']?.mean,
        percentiles: {
          p50: { value: latency['time_to_first_token']?.p50 },
          p99_9: { value: latency['time_to_first_token']?.p99p9 },
        },
      });
      expect(distributionOf(result, 'inter_token_latency').mean).toBe(latency['time_per_output_token']?.mean);
      expect(distributionOf(result, 'inter_chunk_latency').mean).toBe(latency['inter_token_latency']?.mean);
      expect(scalarOf(result, 'request_throughput').value).toBe((throughput['request_rate'] as Statistics).mean);
      expect(distributionOf(result, 'input_sequence_length').mean).toBe(requests.input_length.mean);
    }));

  test('milliseconds are milliseconds; a unit and a tool that are not known are not guessed', () =>
    inTemporaryFolder(async (folder) => {
      const value = await whole(({ latency }) => {
        latency['request_latency'] = { units: 'ms', mean: 250 };
        latency['time_to_first_token'] = { units: 'furlongs', mean: 1 };
      });
      await writeFile(join(folder, 'report.json'), JSON.stringify(value));
      const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [join(folder, 'report.json')]));
      expect(distributionOf(result, 'request_latency').mean).toBe(0.25);
      expect(result.measures.map(({ measure }) => measure)).not.toContain('time_to_first_token');
      expect(run.source?.notes).toContain('time_to_first_token left out: its units, "furlongs", are not known here');
      const other = { ...value, scenario: { load: { standardized: { tool: 'new-tool' } } } };
      await writeFile(join(folder, 'other.json'), JSON.stringify(other));
      const unknown = await importedRun(await importInto(join(folder, 'other'), [join(folder, 'other.json')]));
      expect(unknown.result.measures.map(({ measure }) => measure)).toEqual([
        'error_ratio',
        'input_sequence_length',
        'output_sequence_length',
      ]);
      expect(unknown.run.source?.notes).toContain(
        'latencies and rates left out: the definitions of new-tool are unknown',
      );
    }));

  test.each([
    [{ use_server_token_count: false }, 'per_request_mean_from_tokenizer', 'ok_tokenizer_output_tokens_over_wall_time'],
    [{ use_server_token_count: true }, 'per_request_mean_from_usage', 'ok_output_tokens_over_wall_time'],
    [null, 'per_request_mean_tokens_of_unknown_source', 'output_tokens_of_unknown_source_over_wall_time'],
  ])('converted from AIPerf: latencies with its definitions, tokens as it counted them (%j)', (endpoint, itl, rate) =>
    inTemporaryFolder(async (folder) => {
      const value = await whole(({ latency, throughput }) => {
        for (const name of Object.keys(latency)) delete latency[name];
        latency['time_to_first_token'] = { units: 's', mean: 0.089, p99: 0.187 };
        latency['inter_token_latency'] = { units: 's/token', mean: 0.0065, p50: 0.0066 };
        latency['request_latency'] = { units: 's', mean: 0.298 };
        throughput['output_token_rate'] = { units: 'tokens/s', mean: 711.7 };
      });
      const phase = {
        kind: 'profiling',
        type: 'concurrency',
        concurrency: 8,
        requests: 100,
        exclude_from_results: false,
      };
      const config = {
        models: { items: [{ name: 'mock' }] },
        endpoint: { ...endpoint, type: 'chat', streaming: true, urls: ['http://10.0.0.1:8000/v1'] },
        phases: [phase],
      };
      const load = { standardized: { tool: 'aiperf', stage: 0 }, ...(endpoint && { native: { config } }) };
      await writeFile(join(folder, 'report.json'), JSON.stringify({ ...value, scenario: { load } }));
      const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [join(folder, 'report.json')]));
      expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
        ...{ definition: 'sent_to_first_content_chunk', mean: 0.089, percentiles: { p99: { value: 0.187 } } },
      });
      // The report's name of what AIPerf has per request, not per gap.
      expect(distributionOf(result, 'inter_token_latency')).toMatchObject({ definition: itl, mean: 0.0065 });
      expect(distributionOf(result, 'request_latency').definition).toBe('sent_to_last_content_chunk');
      expect(measureOf(result, 'output_token_throughput')).toMatchObject({ definition: rate, value: 711.7 });
      if (endpoint !== null)
        expect(run).toMatchObject({
          target: { origin: 'http://10.0.0.1:8000' },
          comparison_key: { model: 'mock', streaming: true, load: { concurrency: 8 } },
        });
    }),
  );

  test('a unit of another quantity is not known', () =>
    inTemporaryFolder(async (folder) => {
      const value = await whole(({ latency, throughput }) => {
        latency['request_latency'] = { units: 'tokens/s', mean: 250 };
        throughput['request_rate'] = { units: 'queries/min', mean: 600 };
        throughput['output_token_rate'] = { units: 'queries/s', mean: 3 };
      });
      await writeFile(join(folder, 'report.json'), JSON.stringify(value));
      const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [join(folder, 'report.json')]));
      const measures = result.measures.map(({ measure }) => measure);
      for (const measure of ['request_latency', 'request_throughput', 'output_token_throughput'])
        expect(measures).not.toContain(measure);
      expect(run.source?.notes).toContain('request_rate left out: its units, "queries/min", are not known here');
    }));

  test('ok requests are the total less the failures: unknown if these are missing or more', () =>
    inTemporaryFolder(async (folder) => {
      const silent = await whole(({ requests }) => delete (requests as Partial<Aggregate['requests']>).failures);
      await writeFile(join(folder, 'silent.json'), JSON.stringify(silent));
      const first = await importedRun(await importInto(join(folder, 'a'), [join(folder, 'silent.json')]));
      expect(first.result.requests).toMatchObject({ ok: null, error: null });
      expect(distributionOf(first.result, 'time_to_first_token')).toMatchObject({ n: null, mean: expect.any(Number) });
      const impossible = await whole(({ requests }) => (requests.failures = 99));
      await writeFile(join(folder, 'impossible.json'), JSON.stringify(impossible));
      const all = await importInto(join(folder, 'b'), [join(folder, 'impossible.json')]);
      expect(all.report.outcomes).toMatchObject([{ status: 'imported', disagreements: 1 }]);
      expect((await importedRun(all)).result.requests).toMatchObject({ ok: null, error: 99 });
    }));

  test.each([
    ['PT1M4.050S', 64.05],
    ['P1DT1H', 90_000],
    ['PT', null],
    ['P', null],
    ['4.05', null],
  ])('the duration %s', (duration, seconds) =>
    inTemporaryFolder(async (folder) => {
      const value = (await whole()) as unknown as { run: { time: { duration: string } } };
      value.run.time.duration = duration;
      await writeFile(join(folder, 'report.json'), JSON.stringify(value));
      const { result } = await importedRun(await importInto(join(folder, 'runs'), [join(folder, 'report.json')]));
      expect(result.window.seconds).toBe(seconds);
    }),
  );

  test('a part that inference-perf wrote, without its own files', () =>
    inTemporaryFolder(async (folder) => {
      const all = await importInto(folder, [join(FIXTURES, PART)]);
      const { run, result } = await importedRun(all);
      expect(run.step).toBe(1);
      expect(distributionOf(result, 'time_to_first_token').mean).toBeGreaterThan(0);
    }));
});

test('version 0.1, as llm-d-benchmark converts a stage of inference-perf', () =>
  inTemporaryFolder(async (folder) => {
    const { run, result } = await importedRun(await importInto(folder, [join(FIXTURES, 'v0.1.yaml')]));
    const { metrics } = (await report('v0.1.yaml')) as { metrics: Aggregate };
    expect(run).toMatchObject({
      start: null,
      step: 1,
      target: { origin: 'http://127.0.0.1:23461' },
      comparison_key: { model: 'sim-model' },
      source: { format_version: '0.1' },
    });
    expect(result.requests).toMatchObject({ ok: 61, error: 3 });
    expect(distributionOf(result, 'time_to_first_token').mean).toBe(metrics.latency['time_to_first_token']?.mean);
    expect(scalarOf(result, 'request_throughput').value).toBe(metrics.throughput['requests_per_sec']);
    // The converter wrote a mean of 0 alone: it did not find the lengths.
    expect(result.measures.map(({ measure }) => measure)).not.toContain('input_sequence_length');
  }));

test('a report without request figures is refused', () =>
  inTemporaryFolder(async (folder) => {
    const value = { ...(await report(PART)), results: { session_performance: {} } };
    await writeFile(join(folder, 'report.yaml'), stringify(value));
    const { report: reported } = await importInto(join(folder, 'runs'), [join(folder, 'report.yaml')]);
    expect(reported.outcomes).toMatchObject([
      { status: 'refused', reason: 'report.yaml: the report has no figures of requests' },
    ]);
  }));

describe('a folder as llm-d-benchmark leaves it, with a report of each version per result', () => {
  const STAGES = new URL('../inference-perf/fixtures/stages/', import.meta.url).pathname;
  const RESULT = 'stage_1_lifecycle_metrics.json';

  async function reportsIn(folder: string): Promise<void> {
    await mkdir(folder);
    await copyFile(join(FIXTURES, 'v0.1.yaml'), join(folder, `benchmark_report,_${RESULT}.yaml`));
    await copyFile(join(FIXTURES, PART), join(folder, `benchmark_report_v0.2,_${RESULT}.yaml`));
    const sessions = { ...(await report(PART)), results: { session_performance: {} } };
    const name = 'benchmark_report_v0.2,_stage_1_session_lifecycle_metrics.json.yaml';
    await writeFile(join(folder, name), stringify(sessions));
  }

  test('the latest version is imported', () =>
    inTemporaryFolder(async (folder) => {
      await reportsIn(join(folder, 'treatment'));
      const all = await importInto(join(folder, 'runs'), [join(folder, 'treatment')]);
      expect(all.report.outcomes).toMatchObject([
        { status: 'imported', tool: 'llm-d-benchmark', name: `benchmark_report_v0.2,_${RESULT}.yaml` },
      ]);
      expect((await importedRun(all)).run.source?.format_version).toBe('0.2.1');
    }));

  test('none where the result that was converted is imported too', () =>
    inTemporaryFolder(async (folder) => {
      const treatment = join(folder, 'treatment');
      await reportsIn(treatment);
      await copyFile(join(STAGES, RESULT), join(treatment, RESULT));
      const { report: all } = await importInto(join(folder, 'runs'), [treatment]);
      expect(all.outcomes).toMatchObject([{ status: 'imported', tool: 'inference-perf' }]);
      expect(all).toMatchObject({ passedOver: { length: 3 }, unrecognized: [] });
      // The report alone is imported, whatever is beside it.
      const alone = join(treatment, `benchmark_report_v0.2,_${RESULT}.yaml`);
      const { report: one } = await importInto(join(folder, 'others'), [alone]);
      expect(one.outcomes).toMatchObject([{ status: 'imported', tool: 'llm-d-benchmark' }]);
    }));
});
