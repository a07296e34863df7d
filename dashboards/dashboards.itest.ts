import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { describeWithPrometheus } from '../prometheus/describe-prometheus.ts';
import { panelsOf, type ClassicDashboard } from './classic-json.ts';
import { interpolate } from './grafana-variables.ts';
import { variableQuery } from './lint.ts';
import { formatQuery, instantQuery, labelValues, rangeQuery, type Series } from './prometheus-api.ts';
import { startStack, type Stack } from './test-stack.ts';

const SCRAPE_INTERVAL_SECONDS = 2;
const START_TIMEOUT_MS = 120_000;

/** Queries that may have no data here, `<panel id> <refId>`, each with the reason. */
const WITHOUT_DATA: Readonly<Record<string, string>> = {};

const HERE = new URL('.', import.meta.url);
const DASHBOARD_FILES = readdirSync(HERE).filter((file) => file.endsWith('.json'));

function read(path: string): string {
  return readFileSync(new URL(path, HERE), 'utf8');
}

function recordedNames(): string[] {
  const folder = '../prometheus/rules/';
  const files = readdirSync(new URL(folder, HERE)).map((file) => parse(read(folder + file)) as RuleFile);
  const rules = files.flatMap(({ groups }) => groups.flatMap((group) => group.rules));
  return rules.map(({ record, labels }) => `${record}{system="${labels.system}",definition="${labels.definition}"}`);
}

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly record: string;
      readonly labels: { readonly system: string; readonly definition: string };
    }[];
  }[];
}

/** How many values there are; NaN, the percentile of nothing, is none. */
function valueCount(series: readonly Series[]): number {
  return series.flatMap(({ samples }) => samples).filter(([, value]) => value !== 'NaN').length;
}

await describeWithPrometheus('dashboards on a real Prometheus that scraped a run', (programs) => {
  let stack: Stack;
  /** The right edge of the dashboard's time range: the run has ended, its targets may be gone. */
  let nowSeconds: number;

  beforeAll(async () => {
    stack = await startStack(programs);
    nowSeconds = Date.now() / 1000;
  }, START_TIMEOUT_MS);

  afterAll(() => stack.stop(), START_TIMEOUT_MS);

  const expand = (text: string): string =>
    interpolate(text, {
      runId: stack.run.runId,
      // A minute before the run belongs to the time range, as when someone looks at it.
      rangeSeconds: nowSeconds - stack.run.startSeconds + 60,
      scrapeIntervalSeconds: SCRAPE_INTERVAL_SECONDS,
    });
  const overTheRun = (expr: string): Promise<readonly Series[]> =>
    rangeQuery(stack.prometheusUrl, {
      expr,
      startSeconds: stack.run.startSeconds,
      endSeconds: stack.run.endSeconds + 2 * SCRAPE_INTERVAL_SECONDS,
      stepSeconds: SCRAPE_INTERVAL_SECONDS,
    });
  const afterTheRun = (expr: string): Promise<readonly Series[]> => instantQuery(stack.prometheusUrl, expr, nowSeconds);

  describe.each(DASHBOARD_FILES)('%s', (file) => {
    const dashboard = JSON.parse(read(file)) as ClassicDashboard;
    const queries = panelsOf(dashboard).flatMap((panel) =>
      (panel.targets ?? []).map((target) => ({ ...target, name: `${panel.id} ${target.refId}`, title: panel.title })),
    );

    test.each(queries)('panel $name ($title) has data', async ({ name, expr, instant }) => {
      const expanded = expand(expr);
      await expect(formatQuery(stack.prometheusUrl, expanded)).resolves.toBeDefined();
      const series = instant === true ? await afterTheRun(expanded) : await overTheRun(expanded);
      const hasData = valueCount(series) > 0;
      expect({ expanded, hasData }).toEqual({ expanded, hasData: !(name in WITHOUT_DATA) });
    });

    test('the variables offer something to choose, the run among it', async () => {
      for (const variable of dashboard.templating.list.filter(({ type }) => type === 'query')) {
        const [, series, label] = /^label_values\((.*), (\w+)\)$/.exec(variableQuery(variable)) ?? [];
        const values = await labelValues(stack.prometheusUrl, label ?? '', expand(series ?? ''));
        expect(values).not.toEqual([]);
        if (variable.name === 'run') expect(values).toContain(stack.run.runId);
      }
    });

    test('the annotations mark the measure phase of the run', async () => {
      for (const annotation of dashboard.annotations.list) {
        const series = await overTheRun(expand(annotation.target?.expr ?? ''));
        const phases = series.map(({ metric }) => `${metric['run_id'] ?? ''} ${metric['phase'] ?? ''}`);
        expect(phases).toContain(`${stack.run.runId} measure`);
      }
    });
  });

  test.each(recordedNames())('the rule %s has recorded', async (name) => {
    expect(valueCount(await overTheRun(name))).toBeGreaterThan(0);
  });

  test('a run that there was not has no data in any panel of a run', async () => {
    const exact =
      'histogram_quantile(0.99, sum by (le) (last_over_time(llmbench_request_latency_seconds_bucket{run_id="none"}[5m])))';
    expect(await afterTheRun(exact)).toEqual([]);
  });
});
