import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { isOfResults } from '../exporter/publish/page-parts.ts';
import { queriedSeries } from '../exporter/publish/result-samples.ts';
import { ruleFiles } from '../prometheus/known-metrics.ts';
import { selectors, type Matcher, type Selector } from '../prometheus/promql.ts';

/** Without its types: the plugin has a configuration of its own. */
const RUN_LIST = new URL('../grafana-plugin/src/runs/prometheus-runs.ts', import.meta.url).href;
const SWEEPS = new URL('../grafana-plugin/src/sweeps/prometheus-sweeps.ts', import.meta.url).href;
type Queries = (rangeSeconds: number) => readonly { readonly expr: string }[];
const { runQueries } = (await import(RUN_LIST)) as { readonly runQueries: Queries };
const { sweepQueries } = (await import(SWEEPS)) as { readonly sweepQueries: Queries };

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const files = (folder: string, ending: string): string[] =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);
const read = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');

/** The PromQL of a dashboard: whatever is an expression or a query. */
function dashboardQueries(path: string): string[] {
  const found: string[] = [];
  JSON.parse(read(path), (key, value: unknown) => {
    if ((key === 'expr' || key === 'query' || key === 'definition') && typeof value === 'string') found.push(value);
    return value;
  });
  return found;
}

/** The selectors with matchers that a guide shows; the reference of all metrics is no query. */
const guideQueries = (path: string): string[] => read(path).match(/llmbench_\w+\{[^}`]*\}/g) ?? [];

const sources: readonly (readonly [source: string, queries: readonly string[]])[] = [
  ...[...files('dashboards', '.json'), ...files('grafana-plugin/src', 'dashboards.json')].map(
    (path) => [path, dashboardQueries(path)] as const,
  ),
  ...(['rules', 'alerts'] as const).flatMap((folder) =>
    ruleFiles(folder).map(([file, rules]) => [`${folder}/${file}`, rules.map(({ expr }) => expr)] as const),
  ),
  ["the app's list of runs", runQueries(3600).map(({ expr }) => expr)],
  ["the app's sweeps", sweepQueries(3600).map(({ expr }) => expr)],
  ...files('docs', '.md').map((path) => [path, guideQueries(path)] as const),
];

const queried = sources.flatMap(([source, queries]) =>
  queries
    .flatMap(selectors)
    .filter(({ metric }) => isOfResults({ name: metric }))
    .map((selector) => ({ source, selector, text: JSON.stringify(selector.matchers) })),
);

/** The values that a matcher names. Null: it does not select by alternatives, so that they cannot be checked. */
function valuesOf({ operator, value }: Matcher): readonly string[] | null {
  if (operator === '=') return value.includes('$') ? null : [value];
  return operator === '=~' && /^[\w|]+$/.test(value) ? value.split('|') : null;
}

/** A series for each combination of the labels by which series are left out. */
function labelsOf({ metric, matchers }: Selector): readonly Record<string, string>[] {
  // Every series of these families has the label.
  const turn = metric.includes('_by_turn_') ? { turn: 'first' } : {};
  let combinations: Record<string, string>[] = [{ run_id: 'r', ...turn }];
  for (const label of ['measure', 'stat', 'quantile', 'bound']) {
    const matcher = matchers.find((each) => each.label === label);
    const bounds = label === 'bound' && metric.endsWith('_quantile') ? ['low', 'estimate', 'high'] : null;
    const values = matcher === undefined ? bounds : valuesOf(matcher);
    if (matcher !== undefined && values === null) throw new Error(`${metric}: ${label} is not a list of values`);
    if (values === null) continue;
    combinations = combinations.flatMap((labels) => values.map((value) => ({ ...labels, [label]: value })));
  }
  return combinations;
}

describe('a query of finished runs has its data with the default of serve --result-series', () => {
  test('the queries are found', () => {
    expect(queried.filter(({ source }) => source.startsWith('dashboards/')).length).toBeGreaterThan(10);
    expect(queried.filter(({ source }) => source.startsWith('alerts/')).length).toBeGreaterThan(0);
    expect(queried.filter(({ source }) => source.startsWith('docs/')).length).toBeGreaterThan(1);
    expect(queried.filter(({ source }) => source.startsWith('the app')).length).toBeGreaterThan(3);
  });

  test.each(queried)('$source: $selector.metric$text', ({ selector }) => {
    // Histograms of finished runs are only on the page on request.
    expect(selector.metric).not.toMatch(/_bucket$/);
    for (const labels of labelsOf(selector)) {
      const family = { name: selector.metric, help: '', type: 'gauge' as const, samples: [{ labels, value: 1 }] };
      expect([labels, queriedSeries([family])]).toEqual([labels, [family]]);
    }
  });
});

test('of what nothing queries, most is left out', () => {
  const sample = (labels: Record<string, string>) => ({
    ...{ name: 'x', help: '', type: 'gauge' as const, samples: [{ labels: { run_id: 'r', ...labels }, value: 1 }] },
  });
  expect(
    queriedSeries([
      sample({ measure: 'time_to_first_token', stat: 'p25' }),
      sample({ measure: 'time_to_first_token', stat: 'all_p99' }),
      sample({ measure: 'http_req_waiting', stat: 'p99' }),
      sample({ target: 't', quantile: '0.9', bound: 'low' }),
    ]),
  ).toEqual([]);
});
