import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadCatalog } from '../catalog/load.ts';
import { ruleFiles } from '../prometheus/known-metrics.ts';
import { selectors } from '../prometheus/promql.ts';
import { describeWithEachPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { panelsOf, type ClassicDashboard } from './classic-json.ts';
import { variableQuery } from './lint.ts';
import { DASHBOARDS } from './src/dashboards.ts';
import { seriesOfPage, type InputSeries } from './testing/catalog-page.ts';
import { interpolate } from './testing/grafana-variables.ts';

const SCRAPE_INTERVAL_SECONDS = 15;
const SAMPLES = 60;
const RANGE_SECONDS = 600;
const REASON = 'No data: {{why}}';

/** The servers of each dashboard: the pages on their targets. */
const SYSTEMS: Readonly<Record<string, readonly string[]>> = {
  vllm: ['vllm', 'lmcache'],
  dynamo: ['dynamo', 'dynamo-router', 'lmcache'],
  kvbm: ['kvbm'],
  sglang: ['sglang', 'lmcache'],
  trtllm: ['trtllm'],
  triton: ['triton'],
  'llm-d-epp': ['llm-d-epp'],
};

const RULES = Object.keys(SYSTEMS)
  .filter((system) => ruleFiles('rules').some(([file]) => file === `${system}.yml`))
  .flatMap((system) => (['oldest', 'newest'] as const).map((release) => [system, release] as const));

const QUEUE = 'LlmQueueSaturated';
const CACHE = 'LlmKvCachePressure';
const PREEMPTIONS = 'LlmPreemptions';
const ERRORS = 'LlmErrorShareHigh';
const FIRST_TOKENS = 'LlmTimeToFirstTokenBurn';
const SERVER_ALERTS = [QUEUE, CACHE, PREEMPTIONS, ERRORS, FIRST_TOKENS];

/** The alerts that a server in trouble fires, by what its release exposes. */
const FIRING: readonly (readonly [system: string, release: 'oldest' | 'newest', alerts: readonly string[]])[] = [
  ['vllm', 'oldest', SERVER_ALERTS],
  ['vllm', 'newest', SERVER_ALERTS],
  ['dynamo', 'oldest', [QUEUE, CACHE, ERRORS, FIRST_TOKENS]],
  ['dynamo', 'newest', [QUEUE, CACHE, ERRORS, FIRST_TOKENS]],
  ['sglang', 'oldest', [QUEUE, CACHE, FIRST_TOKENS]],
  ['sglang', 'newest', [QUEUE, CACHE, PREEMPTIONS, FIRST_TOKENS]],
  ['trtllm', 'oldest', [FIRST_TOKENS]],
  ['trtllm', 'newest', [QUEUE, CACHE, FIRST_TOKENS]],
  ['triton', 'newest', [ERRORS, FIRST_TOKENS]],
];

interface Panel {
  readonly title: string;
  readonly queries: readonly string[];
  readonly reason: string;
  /** The query of the variable of what is known of the servers. */
  readonly servers: string;
}

/** A query of which promtool says that it has something, or nothing. */
interface Expectation {
  readonly name: string;
  /** What is grouped: in parentheses, with the labels that are kept before. */
  readonly expr: string;
  readonly hasData: boolean;
  readonly labels?: string;
}

function dashboardsOf(system: string): readonly ClassicDashboard[] {
  const files = [`llmbench-${system}.json`, `llmbench-${system}-details.json`];
  const dashboards = DASHBOARDS.filter(([file]) => files.includes(file)).map(([, json]) => json());
  return dashboards.map((json) => JSON.parse(json) as ClassicDashboard);
}

const panelsOverTime = (system: string): readonly Panel[] => dashboardsOf(system).flatMap(panelsOfDashboard);

/** The queries, of panels of any kind, whose metrics are all on the page. */
function answerable(system: string, page: readonly InputSeries[]): readonly Expectation[] {
  const names = new Set(page.map(({ series }) => series.replace(/\{.*/, '')));
  return dashboardsOf(system)
    .flatMap(panelsOf)
    .flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr: asSent(expr) })))
    .filter(({ expr }) => selectors(expr).length > 0 && selectors(expr).every(({ metric }) => names.has(metric)))
    .map(({ title, expr }) => ({ name: `${title}: ${expr}`, expr: `(${expr})`, hasData: true }));
}

function panelsOfDashboard(dashboard: ClassicDashboard): readonly Panel[] {
  const variable = dashboard.templating.list.find(({ name }) => name === 'why');
  const servers = /^query_result\((.*)\)$/.exec(variable === undefined ? '' : variableQuery(variable))?.[1] ?? '';
  return panelsOf(dashboard).flatMap(({ title, targets = [] }) => {
    const [reason] = targets.filter(({ legendFormat }) => legendFormat === REASON);
    if (reason === undefined) return [];
    const queries = targets.filter(({ legendFormat }) => legendFormat !== REASON && legendFormat !== 'objective');
    return [{ title, queries: queries.map(({ expr }) => expr), reason: reason.expr, servers }];
  });
}

function asSent(expr: string, servers = ''): string {
  const choice = {
    runId: 'r1',
    job: '.+',
    rangeSeconds: RANGE_SECONDS,
    scrapeIntervalSeconds: SCRAPE_INTERVAL_SECONDS,
    values: {
      instance: '.+',
      model: '.*',
      worker: '.*',
      gpu_exporter: '.+',
      nixl_agent: '.+',
      gateway: '.+',
      heatmap_instance: '.+',
      ttft_slo_ms: '500',
      ttft_slo: '1',
      itl_slo: '1',
      why: servers,
    },
  };
  return interpolate(expr, choice);
}

const either = (queries: readonly string[]): string => queries.map((expr) => `(${asSent(expr)})`).join(' or ');

function pageOf(systems: readonly string[], release: 'oldest' | 'newest', switchedOn: boolean): readonly InputSeries[] {
  return systems.flatMap((system) => {
    const catalog = loadCatalog(system);
    const version = catalog.versions?.[release] ?? '0';
    return seriesOfPage({ catalog, release: version, switchedOn, instance: 'a:8000', samples: SAMPLES });
  });
}

/** Metrics of all systems that a recorded series is made of. */
function metricsOf(record: string): ReadonlySet<string> {
  const rules = ruleFiles('rules').flatMap(([, all]) => all.filter((rule) => rule.record === record));
  return new Set(rules.flatMap(({ expr }) => selectors(expr)).map(({ metric }) => metric));
}

/** More requests wait than run, many fail, the cache is nearly full, first tokens come after the highest finite bound. */
function inTrouble(page: readonly InputSeries[]): readonly InputSeries[] {
  const [waiting, usage] = [metricsOf('system:requests_waiting:sum'), metricsOf('system:kv_cache_usage_ratio:max')];
  // Those that wait at Dynamo's frontend are among its open requests.
  const open = ['dynamo_frontend_active_requests', 'dynamo_frontend_inflight_requests'];
  return page.map(({ series, values }) => {
    const name = series.replace(/\{.*/, '');
    const value = open.includes(name) ? 10 : waiting.has(name) ? 9 : usage.has(name) ? 0.97 : null;
    if (value !== null) return { series, values: `${value}x${SAMPLES}` };
    if (/="error"/.test(series)) return { series, values: `0+50x${SAMPLES}` };
    return { series, values: /_bucket\{.*le="[^+]/.test(series) ? `0x${SAMPLES}` : values };
  });
}

const pathOfRules = (file: string): string => fileURLToPath(new URL(`../prometheus/${file}`, import.meta.url));

/** What a run says of itself. */
const runOf = (version: string): InputSeries => ({
  series: `llmbench_run_info{run_id="r1",system="vllm",system_version="${version}"}`,
  values: `1x${SAMPLES}`,
});

await describeWithEachPrometheus('server dashboards on the pages of releases', ({ promtool }) => {
  /** The names of the expectations that are not met. */
  async function unmet(
    series: readonly InputSeries[],
    expectations: readonly Expectation[],
    rules: readonly string[] = [],
  ): Promise<string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-releases-'));
    try {
      const file = join(folder, 'test.json');
      const tests = expectations.map(({ expr, hasData, labels = '{}' }) => ({
        expr: `group${expr}`,
        eval_time: `${(SAMPLES - 2) * SCRAPE_INTERVAL_SECONDS}s`,
        exp_samples: hasData ? [{ labels, value: 1 }] : [],
      }));
      const page = { interval: `${SCRAPE_INTERVAL_SECONDS}s`, input_series: series, promql_expr_test: tests };
      await writeFile(file, JSON.stringify({ rule_files: rules, evaluation_interval: page.interval, tests: [page] }));
      const output = await run(promtool, ['test', 'rules', file]);
      if (/\bSUCCESS\b/.test(output)) return [];
      const failed = expectations.filter((_, index) => output.includes(`expr: ${JSON.stringify(tests[index]?.expr)}`));
      return failed.length > 0 ? failed.map(({ name }) => name) : [output];
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  const NO_PAGE = 'not scraped: vLLM (port 8000, path /metrics)';

  test.each([
    ['no page was scraped', { series: [], servers: NO_PAGE, title: 'Gap between output steps', why: NO_PAGE }],
    [
      'the release of the run is older',
      {
        series: [...pageOf(['vllm'], 'oldest', true), runOf('0.8.0')],
        servers: '0.8.0',
        title: 'Time per output token, per request',
        why: 'vLLM 0.8.0 does not expose this, 0.11.0 and later do',
      },
    ],
    [
      'the release is not known',
      {
        series: pageOf(['vllm'], 'oldest', true),
        servers: null,
        title: 'Time per output token, per request',
        why: 'vLLM exposes this since 0.11.0',
      },
    ],
    [
      'the feature is not enabled, also where the release is known',
      {
        series: [...pageOf(['vllm'], 'newest', false), runOf('0.33.0')],
        servers: '0.33.0',
        title: 'Life of a KV block',
        why: 'vLLM exposes this since 0.12.0 · not enabled, needs: --kv-cache-metrics',
      },
    ],
    [
      'no request came',
      {
        series: pageOf(['vllm'], 'newest', false).map((series) => ({ ...series, values: `7x${SAMPLES}` })),
        servers: null,
        title: 'Time per output token, per request',
        why: 'nothing was observed in the time range',
      },
    ],
  ])('%s', async (_state, { series, servers, title, why }) => {
    const panel = panelsOverTime('vllm').find((each) => each.title === title);
    const known = { hasData: servers !== null, labels: `{why="${servers ?? ''}"}` };
    const reason = asSent(panel?.reason ?? '', servers ?? '');
    const expectations = [
      { name: 'variable', expr: ` by (why) (${asSent(panel?.servers ?? '')})`, ...known },
      { name: title, expr: ` by (why) (${reason})`, hasData: true, labels: `{why="${why}"}` },
    ];
    expect(await unmet(series, expectations)).toEqual([]);
  });

  test.each(
    Object.keys(SYSTEMS).flatMap((system) =>
      (['oldest', 'newest'] as const).flatMap((release) => [true, false].map((on) => [system, release, on] as const)),
    ),
  )(
    '%s, %s release, switches set: %s: each panel has data or says why not, and each query has data whose metrics are there',
    async (system, release, switchedOn) => {
      const panels = panelsOverTime(system);
      expect(panels.length).toBeGreaterThan(5);
      const page = pageOf(SYSTEMS[system] ?? [], release, switchedOn);
      const expectations = panels.flatMap(({ title, queries, reason }) => [
        { name: `${title}: neither data nor a reason`, expr: `(${either([...queries, reason])})`, hasData: true },
        {
          name: `${title}: data and a reason`,
          expr: `((${either(queries)}) and on () (${asSent(reason)}))`,
          hasData: false,
        },
      ]);
      expect(await unmet(page, [...expectations, ...answerable(system, page)])).toEqual([]);
    },
  );

  test.each(RULES)(
    '%s, %s release: each recording rule has a series, unless the release has none of its metrics',
    async (system, release) => {
      const page = pageOf([system], release, true);
      const names = new Set(page.map(({ series }) => series.replace(/\{.*/, '')));
      const [, rules = []] = ruleFiles('rules').find(([file]) => file === `${system}.yml`) ?? [];
      const expectations = rules.map(({ record = '', expr }) => ({
        name: record,
        expr: `(${expr})`,
        hasData: selectors(expr).some(({ metric }) => names.has(metric)),
      }));
      expect(expectations.filter(({ hasData }) => hasData).length).toBeGreaterThan(3);
      expect(await unmet(page, expectations)).toEqual([]);
    },
  );

  test.each(FIRING)('%s, %s release: a server in trouble fires %j', async (system, release, firing) => {
    const expectations = SERVER_ALERTS.map((alert) => ({
      name: alert,
      expr: ` by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
      hasData: firing.includes(alert),
      labels: `{alertname="${alert}"}`,
    }));
    const rules = [`rules/${system}.yml`, 'rules/objectives.yml', 'alerts/servers.yml'].map(pathOfRules);
    expect(await unmet(inTrouble(pageOf([system], release, true)), expectations, rules)).toEqual([]);
  });

  test.each(
    Object.keys(SYSTEMS).flatMap((system) =>
      (['oldest', 'newest'] as const).map((release) => [system, release] as const),
    ),
  )(
    '%s, %s release: a target that stops answering fires, and one that answers without its families',
    async (system, release) => {
      const page = pageOf([system], release, false);
      const half = SAMPLES / 2;
      const up = (values: string): InputSeries => ({ series: 'up{job="servers",instance="a:8000"}', values });
      const fires = (alert: string, hasData = true): Expectation[] => [
        {
          name: alert,
          expr: ` by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})`,
          hasData,
          labels: `{alertname="${alert}"}`,
        },
      ];
      const rules = [pathOfRules('alerts/targets.yml')];
      expect(await unmet([...page, up(`1x${half} 0x${half}`)], fires('LlmTargetDown'), rules)).toEqual([]);
      const gone = page.map(({ series }) => ({ series, values: `1x${half} stale` }));
      // After a restart the page of TensorRT-LLM before 1.3.0 has no families until a request has finished.
      const isEmptyAtStart = system === 'trtllm' && release === 'oldest';
      expect(await unmet([...gone, up(`1x${SAMPLES}`)], fires('LlmTargetSilent', !isEmptyAtStart), rules)).toEqual([]);
    },
  );
});

function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { maxBuffer: 64 * 1024 * 1024 }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}
