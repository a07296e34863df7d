import { describe, expect, test } from '@jest/globals';
import { parseText } from '../../core/exposition/index.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ObjectiveResult } from '../../core/run/objectives.ts';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { ServersFile } from '../../core/run/servers-file.ts';
import { EXAMPLE_DATASET, distribution, requestRecord, resultFile, runFile, scalar } from './fixtures/run.ts';
import { counter, serversFile } from './fixtures/servers.ts';
import type { PagePart } from './page-parts.ts';
import { ResultMetrics } from './result-metrics.ts';
import type { ResultMetricsOptions } from './result-metrics.ts';
import type { ListedRun } from './views/run-library.ts';
import type { RunReader } from './run-reader.ts';
import { runSummary } from './views/run-summary.ts';
import { wholePage } from './testing/whole-page.ts';

interface StoredRun {
  readonly run: RunFile;
  readonly result: ResultFile | Error;
  readonly records: readonly RequestRecord[] | Error;
  readonly servers: ServersFile | null | Error;
}

/** A store in memory that counts what is read of it. */
class MemorySource implements RunReader {
  runs: StoredRun[] = [];
  readonly reads: string[] = [];
  readonly #listed = new WeakMap<RunFile, ListedRun>();
  #last: readonly ListedRun[] = [];

  async list() {
    const found = this.runs.map(({ run }): ListedRun => {
      const listed = this.#listed.get(run);
      return listed ?? { run_id: run.run_id, summary: runSummary(run, null), damage: null };
    });
    this.runs.forEach(({ run }, i) => this.#listed.set(run, found[i] as ListedRun));
    if (found.some((listed, i) => listed !== this.#last[i]) || found.length !== this.#last.length) this.#last = found;
    return this.#last;
  }

  async readRun(runId: string): Promise<RunFile> {
    return this.#run(runId).run;
  }

  async readResult(runId: string): Promise<ResultFile> {
    this.reads.push(`result ${runId}`);
    const result = this.#run(runId).result;
    if (result instanceof Error) throw result;
    return result;
  }

  async readServers(runId: string): Promise<ServersFile | null> {
    const { servers } = this.#run(runId);
    if (servers instanceof Error) throw servers;
    return servers;
  }

  async *readRecords({ run_id }: RunFile): AsyncGenerator<RequestRecord> {
    this.reads.push(`records ${run_id}`);
    const { records } = this.#run(run_id);
    if (records instanceof Error) throw records;
    yield* records;
  }

  async live(): Promise<readonly RunFile[]> {
    return [];
  }

  #run(runId: string): StoredRun {
    const stored = this.runs.find(({ run }) => run.run_id === runId);
    if (stored === undefined) throw new Error(`no run ${runId}`);
    return stored;
  }
}

function stored(
  run_id: string,
  changes: Partial<StoredRun> & { end?: string | null; scenario?: string } = {},
): StoredRun {
  const { end = '2026-11-03T10:15:11.000Z', scenario = 'chat', ...rest } = changes;
  return {
    run: runFile({ run_id, scenario, status: 'completed', end }),
    result: resultFile({ run_id, scenario }),
    records: [requestRecord()],
    servers: null,
    ...rest,
  };
}

function page(source: RunReader, limits: Partial<ResultMetricsOptions> = {}) {
  const problems: string[] = [];
  const metrics = new ResultMetrics({ source, version: '0.1.0', problem: (line) => problems.push(line), ...limits });
  return { metrics, problems, text: async () => wholePage(await metrics.render(undefined)).toString() };
}

describe('the page of finished runs', () => {
  test('one run, without its histograms', async () => {
    const source = new MemorySource();
    source.runs = [stored('r1')];
    expect(await page(source, { histogramRuns: 0 }).text()).toBe(`\
# HELP llmbench_build_info Version of llmbench, always 1.
# TYPE llmbench_build_info gauge
llmbench_build_info{version="0.1.0"} 1
# HELP llmbench_run_info Metadata of the run, always 1; join on run_id.
# TYPE llmbench_run_info gauge
llmbench_run_info{run_id="r1",scenario="chat",start="2026-11-03T10:15:00Z",model="tiny \\"quoted\\"",endpoint_type="chat",system="vllm",system_version="",gpu="",gpu_driver_version="",server_image="",commit="",tool="llmbench",tool_version="0.1.0",load="concurrency 8",fingerprint="f00d",group_id="",step="",repeat="2"} 1
# HELP llmbench_result_info Outcome of a finished run and whether its results are exact and its client kept up, always 1.
# TYPE llmbench_result_info gauge
llmbench_result_info{run_id="r1",scenario="chat",fingerprint="f00d",status="completed",model="tiny \\"quoted\\"",system="vllm",dataset="",client_saturated="false",exact=""} 1
# HELP llmbench_run_status Status of a finished run: 1 for its status, 0 for the others.
# TYPE llmbench_run_status gauge
llmbench_run_status{run_id="r1",status="completed"} 1
llmbench_run_status{run_id="r1",status="aborted"} 0
llmbench_run_status{run_id="r1",status="failed"} 0
# HELP llmbench_run_end_timestamp_seconds Unix time at which the run ended.
# TYPE llmbench_run_end_timestamp_seconds gauge
llmbench_run_end_timestamp_seconds{run_id="r1"} 1793700911
# HELP llmbench_result_seconds Exact results of finished runs with unit seconds; one sample per measure and statistic.
# TYPE llmbench_result_seconds gauge
llmbench_result_seconds{run_id="r1",measure="time_to_first_token",stat="mean"} 0.1
llmbench_result_seconds{run_id="r1",measure="time_to_first_token",stat="std"} 0.25
llmbench_result_seconds{run_id="r1",measure="time_to_first_token",stat="min"} 0.0625
llmbench_result_seconds{run_id="r1",measure="time_to_first_token",stat="max"} 1e-7
llmbench_result_seconds{run_id="r1",measure="time_to_first_token",stat="p50"} 0.30000000000000004
llmbench_result_seconds{run_id="r1",measure="time_to_first_token",stat="p99"} 0.5
llmbench_result_seconds{run_id="r1",measure="time_to_first_token",stat="p99_9"} 0.75
# HELP llmbench_result_requests Exact results of finished runs with unit requests; one sample per measure and statistic.
# TYPE llmbench_result_requests gauge
llmbench_result_requests{run_id="r1",measure="requests",stat="ok"} 3
llmbench_result_requests{run_id="r1",measure="requests",stat="error"} 1
llmbench_result_requests{run_id="r1",measure="requests",stat="timeout"} 0
llmbench_result_requests{run_id="r1",measure="requests",stat="cancelled"} 0
# HELP llmbench_result_requests_per_second Exact results of finished runs with unit requests per second; one sample per measure and statistic.
# TYPE llmbench_result_requests_per_second gauge
llmbench_result_requests_per_second{run_id="r1",measure="request_throughput",stat="value"} 12.5
# HELP llmbench_scenario_last_result Result of the newest completed run of the scenario with this fingerprint, in the unit of the label.
# TYPE llmbench_scenario_last_result gauge
llmbench_scenario_last_result{scenario="chat",fingerprint="f00d",measure="requests",stat="ok",unit="requests"} 3
llmbench_scenario_last_result{scenario="chat",fingerprint="f00d",measure="requests",stat="error",unit="requests"} 1
llmbench_scenario_last_result{scenario="chat",fingerprint="f00d",measure="requests",stat="timeout",unit="requests"} 0
llmbench_scenario_last_result{scenario="chat",fingerprint="f00d",measure="requests",stat="cancelled",unit="requests"} 0
llmbench_scenario_last_result{scenario="chat",fingerprint="f00d",measure="time_to_first_token",stat="mean",unit="seconds"} 0.1
llmbench_scenario_last_result{scenario="chat",fingerprint="f00d",measure="time_to_first_token",stat="p50",unit="seconds"} 0.30000000000000004
llmbench_scenario_last_result{scenario="chat",fingerprint="f00d",measure="time_to_first_token",stat="p99",unit="seconds"} 0.5
llmbench_scenario_last_result{scenario="chat",fingerprint="f00d",measure="request_throughput",stat="value",unit="requests_per_second"} 12.5
# HELP llmbench_scenario_last_completed_timestamp_seconds Unix time at which the newest completed run of the scenario ended.
# TYPE llmbench_scenario_last_completed_timestamp_seconds gauge
llmbench_scenario_last_completed_timestamp_seconds{scenario="chat"} 1793700911
# HELP llmbench_finished_runs Finished runs by state: shown on this page, expired (--run-ttl), over the limit (--max-runs), of a newer version of llmbench, or damaged.
# TYPE llmbench_finished_runs gauge
llmbench_finished_runs{state="shown"} 1
llmbench_finished_runs{state="expired"} 0
llmbench_finished_runs{state="over_limit"} 0
llmbench_finished_runs{state="newer"} 0
llmbench_finished_runs{state="damaged"} 0
# HELP llmbench_series_dropped_total Series omitted from this page because a limit was reached.
# TYPE llmbench_series_dropped_total counter
llmbench_series_dropped_total 0
`);
  });

  test('objectives that were met or missed, and none that is undecided', async () => {
    const source = new MemorySource();
    const slo = (stat: 'p50' | 'p90' | 'p99', verdict: ObjectiveResult['verdict']): ObjectiveResult => ({
      ...{ measure: 'time_to_first_token', stat, comparison: '<', limit: 0.3, unit: 'seconds' },
      ...{ value: 0.25, interval: null, verdict, why: null },
    });
    const slos = [slo('p50', 'met'), slo('p90', 'not_met'), slo('p99', 'undecided')];
    source.runs = [stored('r1', { result: resultFile({ run_id: 'r1', slos }) })];
    const text = await page(source, { histogramRuns: 0 }).text();
    expect(text.match(/^llmbench_slo_met.*$/gm)).toEqual([
      'llmbench_slo_met{run_id="r1",slo="time_to_first_token:p50<300ms"} 1',
      'llmbench_slo_met{run_id="r1",slo="time_to_first_token:p90<300ms"} 0',
    ]);
  });

  test('the outcome of an aborted run with a saturated client and foreign traffic', async () => {
    const source = new MemorySource();
    const run = {
      ...runFile({ run_id: 'r1', status: 'aborted', end: '2026-11-03T10:15:11.000Z' }),
      dataset: EXAMPLE_DATASET,
    };
    const base = resultFile({ run_id: 'r1', status: 'aborted' });
    const servers = { exact: false, why: 'not exact: +3 requests', requests: null, gpu_energy: null, targets: [] };
    const collector = { interval_seconds: 1, cpu_seconds: null, cpu_share: null };
    const result = {
      ...base,
      client: { ...base.client, verdict: 'saturated' as const },
      servers: { ...servers, collector },
    };
    source.runs = [stored('r1', { run, result })];
    const text = await page(source, { histogramRuns: 0 }).text();
    expect(text).toContain('dataset="ISL 64, OSL 32",client_saturated="true",exact="false"} 1');
    expect(text.match(/^llmbench_run_status.* 1$/gm)).toEqual(['llmbench_run_status{run_id="r1",status="aborted"} 1']);
    expect(text).not.toContain('llmbench_scenario_last_result');
  });

  test('the last result is that of the run that completed last, for each scenario and fingerprint', async () => {
    const source = new MemorySource();
    const ended = (run_id: string, minute: number, value: number, change: Partial<RunFile> = {}) => {
      const at = `2026-11-03T10:${minute}:00.000Z`;
      const run = stored(run_id, { result: resultFile({ run_id, measures: [scalar({ value })] }) });
      return { ...run, run: { ...run.run, start: at, end: at, ...change } };
    };
    source.runs = [
      ended('r5', 50, 5, { status: 'failed' }),
      ended('r4', 40, 4, { start: null }),
      ended('r3', 20, 3),
      ended('r2', 30, 2),
      ended('r1', 10, 1, { fingerprint: 'beef' }),
    ];
    const text = await page(source, { histogramRuns: 0 }).text();
    const lines = text.match(/^llmbench_scenario_last_result.*request_throughput.*$/gm) ?? [];
    expect(lines.map((line) => /fingerprint="(\w+)".* (\d+)$/.exec(line)?.slice(1))).toEqual([
      ['f00d', '2'],
      ['beef', '1'],
    ]);
  });

  test('a run without a time of its own has no end', async () => {
    const source = new MemorySource();
    const run = runFile({ run_id: 'r1', status: 'completed', start: null, end: '2026-11-03T10:15:11.000Z' });
    source.runs = [stored('r1', { run })];
    expect(await page(source, { histogramRuns: 0 }).text()).not.toContain('llmbench_run_end_timestamp_seconds');
  });

  test('histograms come from the records of the measure phase, of the newest runs only', async () => {
    const source = new MemorySource();
    const records = [
      requestRecord(),
      requestRecord({ phase: 'warmup' }),
      requestRecord({ outcome: 'error', reason: 'reset' }),
    ];
    source.runs = [stored('r2', { records }), stored('r1')];
    const text = await page(source, { histogramRuns: 1 }).text();
    expect(text).toContain('# TYPE llmbench_result_time_to_first_token_seconds histogram\n');
    // 0.12 s is above 0.119 and at most 0.141.
    expect(text).toContain('llmbench_result_time_to_first_token_seconds_bucket{run_id="r2",le="0.119"} 0\n');
    expect(text).toContain('llmbench_result_time_to_first_token_seconds_bucket{run_id="r2",le="0.141"} 2\n');
    expect(text).toContain('llmbench_result_time_to_first_token_seconds_count{run_id="r2"} 2\n');
    expect(text).toContain('llmbench_result_request_latency_seconds_count{run_id="r2"} 1\n');
    expect(text).not.toContain('llmbench_result_request_latency_seconds_count{run_id="r1"}');
  });

  test('a run is read once for any number of scrapes, and a new run takes over the histograms', async () => {
    const source = new MemorySource();
    source.runs = [stored('r1')];
    const { text } = page(source, { histogramRuns: 1 });
    await Promise.all([text(), text()]);
    await text();
    expect(source.reads).toEqual(['result r1', 'records r1']);
    source.runs.unshift(stored('r2'));
    const after = await text();
    expect(source.reads.slice(2)).toEqual(['result r2', 'records r2']);
    expect(after).toContain('llmbench_result_schedule_delay_seconds_count{run_id="r2"} 1');
    expect(after).not.toContain('_count{run_id="r1"}');
    source.runs = [];
    expect(await text()).not.toContain('run_id');
  });

  test('runs beyond the limit are not read, and counted', async () => {
    const source = new MemorySource();
    source.runs = [stored('r3'), stored('r2'), stored('r1')];
    const text = await page(source, { maxRuns: 1, histogramRuns: 0 }).text();
    expect(source.reads).toEqual(['result r3']);
    expect(text).toContain('llmbench_finished_runs{state="shown"} 1\n');
    expect(text).toContain('llmbench_finished_runs{state="over_limit"} 2\n');
    expect(text).not.toMatch(/run_id="r[12]"/);
  });

  test('runs that ended too long ago are not shown; one without a time of its own does not age', async () => {
    const source = new MemorySource();
    const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();
    source.runs = [stored('r3', { end: ago(60) }), stored('r2', { end: ago(100_000) }), stored('r1', { end: null })];
    const text = await page(source, { histogramRuns: 0, runTtlSeconds: 3600 }).text();
    expect([...text.matchAll(/^llmbench_run_info\{run_id="(\w+)"/gm)].map(([, id]) => id)).toEqual(['r3', 'r1']);
    expect(text).toContain('llmbench_finished_runs{state="expired"} 1\n');
  });

  test('what does not fit into the budget is left out whole, newest runs first, and counted once', async () => {
    const source = new MemorySource();
    source.runs = [stored('r3'), stored('r2'), stored('r1')];
    // A run has 18 series: info, outcome, three of its status, end, seven statistics, four outcomes, one throughput. Its
    // scenario's newest results would need eight more.
    const { text } = page(source, { maxSeries: 37, histogramRuns: 0 });
    expect(await text()).toContain('llmbench_series_dropped_total 26\n');
    source.runs.push(stored('r0'));
    const after = await text();
    expect(after).toContain('llmbench_series_dropped_total 44\n');
    expect(after.match(/run_id="r[32]"/g)).toHaveLength(36);
    expect(after).not.toMatch(/run_id="r[10]"/);
  });

  test('scenarios are bounded too: imports have as many as folders; those completed last stay', async () => {
    const source = new MemorySource();
    const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
    source.runs = Array.from({ length: 1_200 }, (_, i) => stored(`r${i}`, { scenario: `s${i}`, end: at(1_200 - i) }));
    const { text } = page(source, { maxRuns: 1, histogramRuns: 0 });
    const shown = [...(await text()).matchAll(/^llmbench_scenario_last_\w+\{scenario="s(\d+)"\}/gm)].map(([, i]) =>
      Number(i),
    );
    expect(shown).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    expect(await text()).toContain('llmbench_series_dropped_total 200\n');
  });

  test('the page of a hundred thousand runs, each with its own model and scenario, is no longer than that of two hundred', async () => {
    const one = stored('r0');
    const source = new MemorySource();
    // One result for all: only what a page is made of is read.
    source.runs = Array.from({ length: 100_000 }, (_, i) => ({
      ...one,
      run: {
        ...one.run,
        run_id: `r${i}`,
        scenario: `scenario ${i}`,
        comparison_key: { ...one.run.comparison_key, model: `model ${i}` },
      },
    }));
    const { text } = page(source);
    const body = await text();
    expect(body.match(/^llmbench_run_info\{/gm)).toHaveLength(200);
    expect(body.match(/^llmbench_scenario_last_completed_timestamp_seconds\{/gm)).toHaveLength(1000);
    expect(body).toContain('llmbench_finished_runs{state="over_limit"} 99800\n');
    expect(body).toContain('llmbench_series_dropped_total 99000\n');
    expect(source.reads.filter((read) => read.startsWith('result'))).toHaveLength(200);
  });

  test.each([
    ['a unit with lines of its own', { unit: 'seconds"} 1\nforged_total 7\n#' }],
    ['a text instead of a number', { value: '1\nforged_total 7' }],
  ])('%s in a file: that run is left out, and nothing of it is on the page', async (_name, forged) => {
    const source = new MemorySource();
    const measures = [{ ...scalar(), ...forged } as unknown as ReturnType<typeof scalar>];
    source.runs = [stored('r2', { result: resultFile({ measures }) }), stored('r1')];
    const { text, problems } = page(source, { histogramRuns: 0 });
    expect(await text()).not.toMatch(/forged|run_id="r2"/);
    expect(await text()).toContain('llmbench_run_info{run_id="r1"');
    expect(problems).toEqual([expect.stringMatching(/^run r2 is left out of the metrics: [^\n]+$/)]);
  });

  test('names of a run with quotes, lines, backslashes, bytes that are no text: one series, read back as they are', async () => {
    const source = new MemorySource();
    const model = 'x"} 1\nforged_total 7\n# \\ \ud800';
    const hostile = stored('r1', { scenario: '__proto__' });
    const comparison_key = { ...hostile.run.comparison_key, model };
    source.runs = [{ ...hostile, run: { ...hostile.run, comparison_key } }];
    // Throws at what is not in the format.
    const { families } = parseText(wholePage(await page(source).metrics.render(undefined)));
    const info = families.find(({ name }) => name === 'llmbench_run_info');
    expect(info?.samples.map(({ labels }) => [labels['model'], labels['scenario']])).toEqual([
      [model.toWellFormed(), '__proto__'],
    ]);
    expect(families.map(({ name }) => name)).not.toContain('forged_total');
  });

  test('a forged number of a server: the servers of that run are left out', async () => {
    const source = new MemorySource();
    const servers = serversFile([counter('vllm:prompt_tokens_total', '1\nforged_total 7' as unknown as number)]);
    source.runs = [stored('r1', { servers })];
    const { text, problems } = page(source, { histogramRuns: 0 });
    expect(await text()).not.toContain('forged');
    expect(problems).toEqual([
      expect.stringMatching(/^the servers of run r1 are left out of the metrics: .* no number$/),
    ]);
  });

  test('the page is the same object until a run comes or goes', async () => {
    const source = new MemorySource();
    source.runs = [stored('r1')];
    const { metrics } = page(source);
    const { body } = await metrics.render(undefined);
    expect((await metrics.render(undefined)).body).toBe(body);
    source.runs.unshift(stored('r2'));
    expect((await metrics.render(undefined)).body).not.toBe(body);
  });

  test('servers that cannot be read are left out of a run that is shown', async () => {
    const source = new MemorySource();
    source.runs = [stored('r1', { servers: new Error('servers.json is cut off') })];
    const { text, problems } = page(source, { histogramRuns: 0 });
    expect(await text()).toContain('llmbench_run_info{run_id="r1"');
    expect(problems).toEqual(['the servers of run r1 are left out of the metrics: servers.json is cut off']);
  });

  test('two numbers with the same labels: the first stands', async () => {
    const source = new MemorySource();
    const measures = [scalar({ value: 1 }), scalar({ value: 2, definition: 'another' }), distribution()];
    source.runs = [stored('r1', { result: resultFile({ measures }) })];
    const text = await page(source).text();
    expect(text.match(/^llmbench_result_.*request_throughput/gm)).toHaveLength(1);
    expect(text.match(/^llmbench_scenario_last_result.*request_throughput.*$/gm)).toEqual([
      expect.stringMatching(/ 1$/),
    ]);
    expect(text).toContain('stat="value"} 1\n');
  });

  test('a run that cannot be read is left out, reported once, and does not affect the others', async () => {
    const source = new MemorySource();
    source.runs = [
      stored('r3', { result: new Error('result.json is cut off') }),
      stored('r2', { records: new Error('no records') }),
      stored('r1'),
    ];
    const { text, problems } = page(source);
    await text();
    const after = await text();
    expect(problems).toEqual([
      'run r3 is left out of the metrics: result.json is cut off',
      'the histograms of run r2 are left out of the metrics: no records',
    ]);
    expect(after).toContain('llmbench_run_info{run_id="r2"');
    expect(after).toContain('llmbench_result_seconds{run_id="r1"');
    expect(after).toContain('llmbench_result_seconds{run_id="r2"');
    expect(after).not.toContain('llmbench_run_info{run_id="r3"');
  });

  test('the freshness of a scenario is the end of its newest completed run', async () => {
    const source = new MemorySource();
    const ended = (run_id: string, status: RunFile['status'], end: string, start: string | null = end) => {
      const run = stored(run_id);
      return { ...run, run: { ...run.run, status, start, end } };
    };
    source.runs = [
      ended('r4', 'aborted', '2026-11-03T13:00:00.000Z'),
      ended('r3', 'completed', '2026-11-03T11:00:00.500Z'),
      ended('r2', 'completed', '2026-11-03T12:00:00.000Z', null),
      ended('r1', 'completed', '2026-11-03T10:00:00.000Z'),
    ];
    // 11:00:00.5 UTC; 1793700900 is 10:15:00.
    expect(await page(source).text()).toContain(
      `llmbench_scenario_last_completed_timestamp_seconds{scenario="chat"} ${1793700900 + 45 * 60 + 0.5}\n`,
    );
  });

  test('OpenMetrics differs in the head of the counter and in its end', async () => {
    const source = new MemorySource();
    source.runs = [stored('r1')];
    const { metrics, text } = page(source);
    const openMetrics = await metrics.render('application/openmetrics-text; version=1.0.0');
    expect(openMetrics.contentType).toContain('application/openmetrics-text; version=1.0.0');
    expect(wholePage(openMetrics).toString()).toBe(
      `${(await text()).replace('# HELP llmbench_series_dropped_total', '# HELP llmbench_series_dropped').replace('# TYPE llmbench_series_dropped_total', '# TYPE llmbench_series_dropped')}# EOF\n`,
    );
  });

  test('it is ready after the runs have been read', async () => {
    const { metrics } = page(new MemorySource());
    expect(metrics.loaded).toBe(false);
    await metrics.refresh();
    expect(metrics.loaded).toBe(true);
  });
});

describe('the parts of the page', () => {
  const MINUTE_MS = 60_000;
  const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

  function parts(source: RunReader) {
    let now_ms = 0;
    const { metrics, text } = page(source, { now_ms: () => now_ms });
    const part = async (name: PagePart): Promise<string[]> =>
      linesOf(wholePage(await metrics.renderPart(name, undefined)).toString());
    return { text, part, wait: (ms: number) => void (now_ms += ms) };
  }

  test('after two minutes each series of the whole page is in one of them', async () => {
    const source = new MemorySource();
    source.runs = [stored('r1')];
    const { text, part, wait } = parts(source);
    await text();
    wait(2 * MINUTE_MS);
    const [current, results] = [await part('current'), await part('results')];
    expect([...current, ...results].sort()).toEqual(linesOf(await text()).sort());
    expect(results.filter((line) => !/^llmbench_(result_|server_|scenario_last_result\{)/.test(line))).toEqual([]);
    expect(current.map((line) => line.split('{')[0])).toEqual(
      expect.arrayContaining(['llmbench_run_info', 'llmbench_result_info', 'llmbench_run_status']),
    );
    expect(current.join('\n')).not.toContain('measure="');
  });

  test('the results of a run that is new are in both, so that they are scraped at once', async () => {
    const source = new MemorySource();
    source.runs = [stored('r1')];
    const { part, wait } = parts(source);
    await part('current');
    wait(10 * MINUTE_MS);
    source.runs = [stored('r2'), ...source.runs];
    const resultsIn = async (name: PagePart): Promise<string[]> => {
      const lines = (await part(name)).filter((line) => line.startsWith('llmbench_result_requests{'));
      return [...new Set(lines.map((line) => /run_id="(\w+)"/.exec(line)?.[1] ?? ''))];
    };
    expect(await resultsIn('current')).toEqual(['r2']);
    expect(await resultsIn('results')).toEqual(['r2', 'r1']);
    wait(2 * MINUTE_MS - 1);
    expect(await resultsIn('current')).toEqual(['r2']);
    wait(1);
    expect(await resultsIn('current')).toEqual([]);
    expect(await resultsIn('results')).toEqual(['r2', 'r1']);
  });

  test('with the queried series only, a run has fewer of them and the same information about it', async () => {
    const source = new MemorySource();
    source.runs = [stored('r1')];
    const all = linesOf(await page(source, { histogramRuns: 0 }).text());
    const queried = linesOf(await page(source, { histogramRuns: 0, resultSeries: 'queried' }).text());
    expect(all).toEqual(expect.arrayContaining(queried));
    expect(all.filter((line) => !queried.includes(line)).every((line) => line.includes('stat="'))).toBe(true);
    expect(queried.length).toBeLessThan(all.length);
  });
});
