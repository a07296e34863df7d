import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeWithPrometheusMajor } from '../prometheus/testing/describe-prometheus.ts';
import { ruleFiles } from '../prometheus/known-metrics.ts';
import { panelsOf, type ClassicDashboard, type ClassicVariable } from './classic-json.ts';
import { APP_FOLDER, DASHBOARDS, NATIVE_FOLDER } from './src/dashboards.ts';
import { HEATMAP_INSTANCE } from './src/variables.ts';
import { interpolate } from './testing/grafana-variables.ts';
import {
  deleteSeries,
  instantQuery,
  labelValues,
  rangeQuery,
  ruleHealth,
  type Series,
} from './testing/prometheus-api.ts';
import { startStack, type Stack } from './testing/stack.ts';
import { openingValues, variableOptions } from './testing/variable-options.ts';

const SCRAPE_INTERVAL_SECONDS = 2;
/**
 * Prometheus ends the series of a target that is gone with samples of the past: two intervals later, and a tenth. A scrape
 * and a rule are stored when they have ended.
 */
const SETTLED_MS = 6000;
const CONVERTED = ['convert_classic_histograms_to_nhcb: true'];
const FLAGS = ['--enable-feature=native-histograms', '--web.enable-admin-api'];
const RULES = 'prometheus/native/rules';
/**
 * The query with what is defined of both kinds: a rate is extrapolated bucket by bucket, that of a native histogram at once,
 * which `irate` is not; and between two observations every value is a percentile, so its rank is a little lower or higher.
 */
const comparable = (target: Target, rankShift: string): Target => ({
  ...target,
  expr: target.expr
    .replace(/\b(rate|increase)\(/g, 'irate(')
    // That of 1 makes a bound a number: the highest of one bucket.
    .replace(/\bhistogram_quantile\(\s*(?!1,)([^,]+),/g, `histogram_quantile(($1) ${rankShift},`),
});
const RANK_SHIFTS = ['- 1e-6', '+ 1e-6'] as const;

/** The router of llm-d is neither simulated nor recorded here. */
function filesIn(folder: string): string[] {
  return DASHBOARDS.map(([file]) => file).filter((file) => file.startsWith(folder) && !file.includes('llm-d-epp'));
}

const FILES = filesIn(NATIVE_FOLDER);
/** Of the app's panel, which takes the differences of raw counters itself. */
const APP_FILES = filesIn(APP_FOLDER);
/** Shown until the result of the run is published: edges of buckets, which only classic histograms have, and estimates. */
const EDGE = /^p99 at (least|most)\b/;
const ESTIMATE = /^p99 estimated\b/;

type Values = Readonly<Record<string, string>>;

interface Target {
  readonly name: string;
  readonly expr: string;
  readonly instant: boolean;
  readonly legend: string;
  /** Whether it is drawn for each instance, and so asks for one. */
  readonly ofInstance: boolean;
  /** Whether its dashboard is looked at when the run has ended; others show servers, some of which are gone by then. */
  readonly ofRun: boolean;
}

function dashboardOf(file: string): ClassicDashboard {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as ClassicDashboard;
}

function targetsOf(dashboard: ClassicDashboard): Target[] {
  return panelsOf(dashboard).flatMap(({ id, title, targets = [], repeat }) =>
    targets.map(({ expr, instant, legendFormat = '' }, index) => {
      const earlier = targets.slice(0, index).filter((target) => target.legendFormat === legendFormat).length;
      const name = `${id} ${title}: ${legendFormat} ${earlier}`;
      const ofInstance = repeat === HEATMAP_INSTANCE;
      const ofRun = /benchmark|generic|client-vs-server|history|panels/.test(dashboard.uid);
      return { name, expr, instant: instant === true, legend: legendFormat, ofInstance, ofRun };
    }),
  );
}

/** Values by series and time; NaN, the percentile of nothing, is left out. */
function valuesOf(series: readonly Series[]): ReadonlyMap<string, number> {
  return new Map(
    series.flatMap(({ metric, samples }) => {
      const labels = Object.entries(metric)
        .sort()
        .map(([label, value]) => `${label}=${value}`);
      return samples
        .filter(([, value]) => value !== 'NaN')
        .map(
          ([seconds, value]) => [`${labels.join()} at ${seconds}`, Number(value.replace('Inf', 'Infinity'))] as const,
        );
    }),
  );
}

/** The same of native histograms: the counts up to each of these bounds, as classic buckets have them. */
function bucketsOf(series: readonly Series[], bounds: ReadonlySet<string>): ReadonlyMap<string, number> {
  return new Map(
    series.flatMap(({ histograms = [] }) =>
      histograms.flatMap(([seconds, { buckets = [] }]) =>
        [...bounds].map((bound) => {
          const below = buckets.filter(([, , upper]) => Number(upper) <= Number(bound.replace('+Inf', 'Infinity')));
          return [`le=${bound} at ${seconds}`, below.reduce((sum, [, , , count]) => sum + Number(count), 0)] as const;
        }),
      ),
    ),
  );
}

/** How many observations raw counters of either kind have, by labels and time. */
function observationsOf(series: readonly Series[]): ReadonlyMap<string, number> {
  return new Map(
    series.flatMap(({ metric, samples, histograms = [] }) => {
      const { le } = metric;
      const labels = Object.entries(metric).filter(([label]) => label !== '__name__' && label !== 'le');
      const key = JSON.stringify(labels.sort());
      const counts = histograms.map(([seconds, { count }]) => [seconds, count] as const);
      const all = le === undefined ? counts : le === '+Inf' ? samples : [];
      return all.map(([seconds, count]) => [`${key} at ${seconds}`, Number(count)] as const);
    }),
  );
}

const ROUNDING = 1e-6;
const NONE: ReadonlyMap<string, number> = new Map();

/** Series and times whose values differ by more than rounding. */
function differences(values: ReadonlyMap<string, number>, reference: ReadonlyMap<string, number>): string[] {
  const keys = new Set([...values.keys(), ...reference.keys()]);
  return [...keys].flatMap((key) => {
    const [value, wanted] = [values.get(key), reference.get(key)];
    const near = value !== undefined && wanted !== undefined && Math.abs(value - wanted) <= ROUNDING * Math.abs(wanted);
    return near || value === wanted ? [] : [`${key}: ${String(value)} instead of ${String(wanted)}`];
  });
}

await describeWithPrometheusMajor('3', 'dashboards for native histograms', (programs) => {
  let stack: Stack;
  /** The right edge of the time range: the run has ended, its result is published. */
  let nowSeconds: number;
  let both: string;
  let converted: string;

  beforeAll(async () => {
    stack = await startStack(programs, [
      { global: [...CONVERTED, 'always_scrape_classic_histograms: true'], rules: RULES, flags: FLAGS },
      { global: CONVERTED, rules: RULES, flags: FLAGS },
    ]);
    [both = '', converted = ''] = stack.prometheusUrls;
    // The same query is sent twice: the samples of its last step have to be there the first time.
    const completeSeconds = stack.run.endSeconds + 4 * SCRAPE_INTERVAL_SECONDS;
    await sleep(Math.max(0, completeSeconds - Date.now() / 1000) * 1000);
    nowSeconds = Date.now() / 1000;
    await sleep(SETTLED_MS);
    await stack.stopServers();
  });

  afterAll(() => stack.stop());

  const expand = (text: string, values: Values): string =>
    interpolate(text, {
      runId: stack.run.runId,
      job: '.+',
      rangeSeconds: nowSeconds - stack.startSeconds + 60,
      scrapeIntervalSeconds: SCRAPE_INTERVAL_SECONDS,
      values,
    });

  const query = ({ expr, instant, legend, ofInstance, ofRun }: Target, server: string, values: Values) => {
    const expanded = expand(
      expr,
      ofInstance ? { ...values, [HEATMAP_INSTANCE]: new URL(stack.benchmarkedPage).host } : values,
    );
    const viewedSeconds = ofRun ? nowSeconds : stack.run.endSeconds;
    const atSeconds = EDGE.test(legend) || ESTIMATE.test(legend) ? stack.publishedSeconds - 0.5 : viewedSeconds;
    return instant
      ? instantQuery(server, expanded, atSeconds)
      : rangeQuery(server, {
          expr: expanded,
          startSeconds: stack.startSeconds,
          endSeconds: stack.run.endSeconds + 2 * SCRAPE_INTERVAL_SECONDS,
          stepSeconds: SCRAPE_INTERVAL_SECONDS,
        });
  };

  const choose = (server: string, variables: readonly ClassicVariable[]): Promise<Record<string, string>> =>
    openingValues(server, variables, expand, nowSeconds);

  const classicOf = (file: string): ClassicDashboard => dashboardOf(file.replace(NATIVE_FOLDER, './'));
  /** What the classic dashboards show of classic histograms: by dashboard and target. */
  const shown = new Map<string, ReadonlyMap<string, number>>();
  /** The two values between which the comparable one lies. */
  const limits = new Map<string, readonly ReadonlyMap<string, number>[]>();
  const chosen = new Map<string, Record<string, string>>();

  describe.each(FILES)('with both kinds stored: %s', (file) => {
    test('each query has the value of the classic one', async () => {
      const classic = targetsOf(classicOf(file)).filter(({ expr }) => !/\$(histogram|\{histogram)/.test(expr));
      const either = targetsOf(dashboardOf(file)).filter(({ legend }) => !ESTIMATE.test(legend));
      const values = await choose(both, classicOf(file).templating.list);
      chosen.set(file, values);
      let count = 0;
      for (const target of classic) {
        const own = either.find(({ name }) => name === target.name);
        const reference = valuesOf(await query(target, both, values));
        shown.set(`${file} ${target.name}`, reference);
        const limitsOf = RANK_SHIFTS.map(async (shift) =>
          valuesOf(await query(comparable(target, shift), both, values)),
        );
        limits.set(`${file} ${target.name}`, await Promise.all(limitsOf));
        count += reference.size;
        const found = valuesOf(await query(own ?? target, both, values));
        expect({ name: target.name, differences: differences(found, reference) }).toEqual({
          name: target.name,
          differences: [],
        });
      }
      expect(count).toBeGreaterThan(10);
    });

    test('no estimate is beside the edges of the buckets', async () => {
      for (const target of targetsOf(dashboardOf(file)).filter(({ legend }) => ESTIMATE.test(legend))) {
        expect(await query(target, both, chosen.get(file) ?? {})).toEqual([]);
      }
    });
  });

  describe.each(APP_FILES)('with both kinds stored: %s', (file) => {
    test('the panels read the classic histograms', async () => {
      const dashboard = dashboardOf(file);
      const values = await choose(both, dashboard.templating.list);
      chosen.set(file, values);
      let count = 0;
      for (const target of targetsOf(dashboard)) {
        const found = await query(target, both, values);
        expect(found.flatMap(({ histograms = [] }) => histograms)).toEqual([]);
        shown.set(`${file} ${target.name}`, observationsOf(found));
        count += observationsOf(found).size;
      }
      expect(count).toBeGreaterThan(10);
    });
  });

  describe('with native histograms only', () => {
    let deleted: readonly string[];

    beforeAll(async () => {
      const names = await labelValues(both, '__name__', '{__name__=~".+_bucket"}');
      deleted = names.map((name) => name.slice(0, -'_bucket'.length));
      await deleteSeries(both, `{__name__=~"(${deleted.join('|')})_(bucket|count|sum)"}`, Date.now() / 1000);
    });

    test('the classic histograms are gone', async () => {
      expect(deleted.length).toBeGreaterThan(30);
      expect(await instantQuery(both, 'count({__name__=~".+_bucket"})', nowSeconds)).toEqual([]);
    });

    describe.each(FILES)('%s', (file) => {
      /** The values of a query, those of a native histogram as the buckets of `reference`. */
      const read = async (target: Target, reference: ReadonlyMap<string, number>) => {
        const series = await query(target, both, chosen.get(file) ?? {});
        const bounds = [...reference.keys()].flatMap((key) => /^le=(\S+) at/.exec(key)?.[1] ?? []);
        const isNative = series.some(({ histograms = [] }) => histograms.length > 0);
        return isNative ? bucketsOf(series, new Set(bounds)) : valuesOf(series);
      };

      test('each query has the series and times of the classic one, and comparable values', async () => {
        let count = 0;
        for (const target of targetsOf(dashboardOf(file))) {
          const key = `${file} ${target.name}`;
          const [reference, [lower = NONE, upper = NONE] = []] = [shown.get(key), limits.get(key)];
          if (reference === undefined || EDGE.test(target.legend)) continue;
          const found = await read(target, reference);
          const values = await read(comparable(target, ''), lower);
          const outside = [...values].flatMap(([at, value]) => {
            const [least = NaN, most = NaN] = [lower.get(at), upper.get(at)];
            const rounding = ROUNDING * Math.abs(most);
            const isInside = value === least || (value >= least - rounding && value <= most + rounding);
            return isInside ? [] : [`${at}: ${value}, not from ${least} to ${most}`];
          });
          expect({ name: target.name, outside, at: [...found.keys()].sort() }).toEqual({
            name: target.name,
            outside: [],
            at: [...reference.keys()].sort(),
          });
          expect([...values.keys()].sort()).toEqual([...lower.keys()].sort());
          count += values.size;
        }
        expect(count).toBeGreaterThan(10);
      });

      test('an estimate lies in the bucket of the percentile', async () => {
        const values = chosen.get(file) ?? {};
        const targets = targetsOf(dashboardOf(file));
        for (const target of targets.filter(({ legend }) => ESTIMATE.test(legend))) {
          const [estimate = NaN] = valuesOf(await query(target, both, values)).values();
          const edge = (which: string): number => {
            const name = target.name.replace('estimated', `at ${which}`);
            return [...(shown.get(`${file} ${name}`)?.values() ?? [])][0] ?? NaN;
          };
          expect(estimate).toBeGreaterThanOrEqual(edge('least'));
          expect(estimate).toBeLessThanOrEqual(edge('most'));
        }
      });

      test('objectives are offered, that of the rules first', async () => {
        const variables = dashboardOf(file).templating.list.filter(({ name }) => name.includes('_slo'));
        for (const variable of variables) {
          const values = chosen.get(file) ?? {};
          const options = await variableOptions(both, variable, (text) => expand(text, values), nowSeconds);
          const seconds = variable.name.startsWith('ttft') ? 0.5 : 0.05;
          const limit = variable.name.endsWith('_ms') ? seconds * 1000 : seconds;
          const hasServer = (chosen.get(file)?.[variable.name] ?? '') !== '';
          const limits = [1, 0.5, 2, 0.25, 4].map((multiple) => String(limit * multiple));
          expect(options.map(({ value }) => value)).toEqual(hasServer ? limits : []);
        }
      });

      test('a Prometheus that converts what it scrapes has data for the same queries', async () => {
        const values = await choose(converted, dashboardOf(file).templating.list);
        const missing: string[] = [];
        for (const target of targetsOf(dashboardOf(file))) {
          const reference = shown.get(`${file} ${target.name}`);
          if (reference === undefined || reference.size === 0 || EDGE.test(target.legend)) continue;
          const found = await query(target, converted, values);
          if (valuesOf(found).size + found.flatMap(({ histograms = [] }) => histograms).length === 0)
            missing.push(target.name);
        }
        expect(missing).toEqual([]);
      });
    });

    test.each(APP_FILES)('%s: the panels read as many observations', async (file) => {
      let count = 0;
      for (const target of targetsOf(dashboardOf(file))) {
        const found = observationsOf(await query(target, both, chosen.get(file) ?? {}));
        const reference = shown.get(`${file} ${target.name}`) ?? NONE;
        expect({ name: target.name, differences: differences(found, reference) }).toEqual({
          name: target.name,
          differences: [],
        });
        count += found.size;
      }
      expect(count).toBeGreaterThan(10);
    });

    test('the generic dashboard offers native histograms by their names, and draws them', async () => {
      const dashboard = dashboardOf(`${NATIVE_FOLDER}llmbench-generic.json`);
      const values = await choose(converted, dashboard.templating.list);
      const variable = dashboard.templating.list.find(({ name }) => name === 'histogram');
      if (variable === undefined) throw new Error('there is no variable histogram');
      const options = await variableOptions(converted, variable, (text) => expand(text, values), nowSeconds);
      expect(options.map(({ value }) => value)).toContain('vllm:e2e_request_latency_seconds');
      const drawn = targetsOf(dashboard).filter(({ expr }) => expr.includes('$histogram'));
      expect(drawn.length).toBe(3);
      for (const target of drawn) {
        const found = await query(target, converted, { ...values, histogram: 'vllm:e2e_request_latency_seconds' });
        expect({ name: target.name, hasData: valuesOf(found).size > 0 }).toEqual({ name: target.name, hasData: true });
      }
    });
  });

  test('the recorded histograms of the converting Prometheus are native', async () => {
    const names = new Set(ruleFiles('rules').flatMap(([, rules]) => rules.map(({ record = '' }) => record)));
    for (const name of [...names].filter((each) => each.includes('_bucket:'))) {
      const at = stack.run.endSeconds;
      const natives = await instantQuery(converted, `count(histogram_count(${name}{system!="triton"}))`, at);
      expect({ name, natives: Number(natives[0]?.samples[0]?.[1] ?? 0) > 0 }).toEqual({ name, natives: true });
      expect(await instantQuery(converted, `${name}{le!="",system!="triton"}`, at)).toEqual([]);
    }
  });

  test('each Prometheus evaluates every rule and every alert without an error', async () => {
    for (const url of stack.prometheusUrls) {
      expect((await ruleHealth(url)).filter(({ health }) => health !== 'ok')).toEqual([]);
    }
  });
});
