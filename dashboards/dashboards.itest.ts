import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { catalogs } from '../catalog/load.ts';
import { describeWithPrometheus } from '../prometheus/testing/describe-prometheus.ts';
import { ruleFiles } from '../prometheus/known-metrics.ts';
import { selectors, type Selector } from '../prometheus/promql.ts';
import { columnTitle, panelsOf, type ClassicDashboard, type ClassicVariable } from './classic-json.ts';
import { OTHER_JOBS, type OtherJob } from './other-jobs.ts';
import { variableQuery } from './lint.ts';
import { DASHBOARDS, NATIVE_FOLDER } from './src/dashboards.ts';
import { interpolate } from './testing/grafana-variables.ts';
import { instantQuery, labelValues, rangeQuery, ruleHealth, type Series } from './testing/prometheus-api.ts';
import { RECORDINGS } from './testing/replayer.ts';
import { BENCHMARKED } from './testing/simulators.ts';
import { startStack, type Stack } from './testing/stack.ts';
import { labelQuery, variableOptions, type VariableOption } from './testing/variable-options.ts';
import { WITHOUT_DATA, type WithoutData } from './without-data.ts';

const SCRAPE_INTERVAL_SECONDS = 2;

/** Of the families that a viewer may choose on the generic dashboard, ones that move here. */
const CHOSEN_FAMILIES = /^vllm:(e2e_request_latency_seconds_bucket|generation_tokens_total|num_requests_running)$/;

/** In seconds, as `prometheus/rules/objectives.yml` says. */
const OBJECTIVES = { ttft: 0.5, itl: 0.05 } as const;

/** How queries are named that show something only as long as the result of the run is not published. */
const UNTIL_PUBLISHED = /^(p99 at (least|most)|so far)$/;
/** And those that show something only as long as the run is in its measure phase. */
const LIVE = /^(done|left)$/;

const OTHER_SYSTEMS = new Set(
  ruleFiles('rules').flatMap(([, rules]) => rules.map(({ labels = {} }) => labels['system'] ?? BENCHMARKED)),
);
OTHER_SYSTEMS.delete(BENCHMARKED);
OTHER_SYSTEMS.delete('client');

/** A line of servers begins with the name of their system. */
function isOfOtherSystem(legend: string): boolean {
  return OTHER_SYSTEMS.has(legend.split(' ')[0] ?? '');
}

/** Names that families had before, which a query reads where the current ones are missing. */
const FORMER = new Set(catalogs().flatMap(({ families }) => families.flatMap(({ formerly }) => formerly ?? [])));
const isFormer = (metric: string): boolean => FORMER.has(metric.replace(/_(bucket|sum|count)$/, ''));

/** Of queries that have data where their panel has none: tried in releases.itest.ts. */
const EMPTY_REASON = 'No data: {{why}}';

/** The job of the servers that the run measures. */
const MEASURED_JOB = 'llmbench-server';

/** A dashboard on the data of some jobs. */
interface Trial {
  readonly file: string;
  readonly of: WithoutData['of'];
  readonly job: string;
}

function dashboardOf(file: string): ClassicDashboard {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as ClassicDashboard;
}

const recorded = new Set(RECORDINGS.map(({ job }) => job));
// Those for native histograms are tried in native.itest.ts.
// Nothing here simulates the router of llm-d: its dashboard is tried in releases.itest.ts.
const classic = DASHBOARDS.filter(([file]) => !file.startsWith(NATIVE_FOLDER) && !file.includes('llm-d-epp'));
const trials: readonly Trial[] = classic.flatMap(([file]): Trial[] => {
  const system = /llmbench-(\w+?)(-app|-details)?\.json$/.exec(file)?.[1] ?? '';
  if (/benchmark|generic|client-vs-server|history|panels/.test(file))
    return [{ file, of: 'run', job: 'llmbench-server' }];
  const trial = (of: WithoutData['of'], job: string): Trial => ({ file, of, job });
  return [
    trial('simulated', system === BENCHMARKED ? 'llmbench-server' : `sim-${system}`),
    ...(recorded.has(`replay-${system}`) ? [trial('recorded', `replay-${system}`)] : []),
  ];
});

/** How many values there are; NaN, the percentile of nothing, is none. */
function valueCount(series: readonly Series[]): number {
  return series.flatMap(({ samples }) => samples).filter(([, value]) => value !== 'NaN').length;
}

/** Exporters beside the servers, such as those of GPUs: panels choose these by instance alone. */
function isExporter(variable: ClassicVariable): boolean {
  const { series, label } = labelQuery(variable) ?? {};
  return label === 'instance' && variable.name !== 'instance' && series?.includes('{') === false;
}

function selectorText({ metric, matchers }: Selector): string {
  return `${metric}{${matchers.map(({ label, operator, value }) => `${label}${operator}"${value}"`).join(',')}}`;
}

await describeWithPrometheus('dashboards on a real Prometheus', (programs) => {
  let stack: Stack;
  /** The panels of each exception that had no data. */
  const empty = new Map(WITHOUT_DATA.map((exception) => [exception, new Set<string>()]));
  /** The right edge of the benchmark dashboards' time range: the run has ended, its targets may be gone. */
  let nowSeconds: number;

  beforeAll(async () => {
    stack = await startStack(programs);
    nowSeconds = Date.now() / 1000;
    await stack.stopServers();
  });

  afterAll(() => stack.stop());

  const overTheRun = (expr: string): Promise<readonly Series[]> =>
    rangeQuery(stack.prometheusUrl, {
      expr,
      startSeconds: stack.startSeconds,
      endSeconds: stack.run.endSeconds + 2 * SCRAPE_INTERVAL_SECONDS,
      stepSeconds: SCRAPE_INTERVAL_SECONDS,
    });

  describe.each(trials)('$file, $of: $job', ({ file, of, job }) => {
    const dashboard = dashboardOf(file);
    const queries = panelsOf(dashboard).flatMap((panel) =>
      (panel.targets ?? []).map(({ refId, expr, instant, legendFormat = '' }) => {
        const title = columnTitle(panel, refId);
        return { name: `${panel.id} ${refId} (${title})`, title, expr, instant, legend: legendFormat };
      }),
    );
    const exceptions = WITHOUT_DATA.filter(
      (exception) => exception.of === of && dashboard.uid.startsWith(exception.uid),
    );
    /** Of servers the end of the load: there the numbers of a time range are looked at. */
    const endSeconds = (): number => (of === 'run' ? nowSeconds : stack.run.endSeconds);
    const beforePublished = (): number => stack.publishedSeconds - 0.5;
    const values: Record<string, string> = {};
    const others = OTHER_JOBS.filter((other) => other.of === of && dashboard.uid.startsWith(other.uid));

    /** The other pages that have all metrics of a query. */
    const otherOf = (text: string): OtherJob | undefined =>
      others.find(({ prefix }) => selectors(text).every(({ metric }) => metric.startsWith(prefix)));
    const jobOf = (text: string): string => otherOf(text)?.job ?? job;

    const expand = (text: string, chosen: Readonly<Record<string, string>> = values): string =>
      interpolate(text, {
        runId: stack.run.runId,
        job: jobOf(text),
        // A minute before the run belongs to the time range, as when someone looks at it.
        rangeSeconds: endSeconds() - stack.startSeconds + 60,
        scrapeIntervalSeconds: SCRAPE_INTERVAL_SECONDS,
        // The instances of other pages are none of those that the dashboard has found.
        values: otherOf(text) === undefined ? chosen : { ...chosen, instance: '.+' },
      });

    const offered = (variable: ClassicVariable): Promise<readonly VariableOption[]> =>
      variableOptions(stack.prometheusUrl, variable, expand, endSeconds());

    beforeAll(async () => {
      for (const variable of dashboard.templating.list) {
        const { name, allValue, current } = variable;
        const value = String(current?.value ?? '');
        if (['job', 'run'].includes(name)) continue;
        // Rules record without a job: there the label system identifies them.
        if (name === 'system') values[name] = BENCHMARKED;
        else if (isExporter(variable)) {
          const { series = '', label = '' } = labelQuery(variable) ?? {};
          const own = await labelValues(stack.prometheusUrl, label, `${series}{job="${jobOf(series)}"}`);
          values[name] = own.join('|');
        } else if (value === '$__all' && allValue === undefined) {
          values[name] = (await offered(variable)).map((option) => option.value).join('|');
        } else if (allValue !== undefined) values[name] = allValue;
        else if (value !== '') values[name] = value;
        else if (variable.type === 'query') {
          const names = (await offered(variable)).map((option) => option.value);
          values[name] = names.find((each) => CHOSEN_FAMILIES.test(each)) ?? names[0] ?? '';
        }
      }
    });

    test.each(queries.filter(({ legend }) => legend !== EMPTY_REASON))(
      'panel $name',
      async ({ title, expr, instant, legend }) => {
        const expanded = expand(expr);
        const atSeconds = LIVE.test(legend)
          ? (stack.run.startSeconds + stack.run.endSeconds) / 2
          : UNTIL_PUBLISHED.test(legend)
            ? beforePublished()
            : title === 'Covered'
              ? nowSeconds
              : endSeconds();
        const series =
          instant === true ? await instantQuery(stack.prometheusUrl, expanded, atSeconds) : await overTheRun(expanded);
        const hasData = valueCount(series) > 0;
        const exception = exceptions.find(
          ({ panels, metric }) => panels.includes(title) && (metric === undefined || expr.includes(metric)),
        );
        if (exception !== undefined && !hasData) empty.get(exception)?.add(title);
        // On recorded pages only families that were on them can have data.
        const [, objective = ''] = /\$(\w*_slo\w*)/.exec(expr) ?? [];
        const isOffered = values[objective] !== '';
        const absent =
          of === 'recorded' &&
          !(isOffered && selectors(expr).every(({ metric }) => isFormer(metric) || isRecorded(metric)));
        // Of the systems in the vocabulary of the rules, a server of one is chosen.
        const wanted = of !== 'run' || !isOfOtherSystem(legend);
        if (exception === undefined && !absent) expect({ expanded, hasData }).toEqual({ expanded, hasData: wanted });
      },
    );

    test('the figures of the run are those of its servers', async () => {
      const tokens = queries.find(
        ({ title, instant, legend }) => title === 'Tokens' && instant === true && legend === '',
      );
      if (job !== MEASURED_JOB || of !== 'simulated' || tokens === undefined) return;
      const servers = await instantQuery(stack.prometheusUrl, expand(tokens.expr), nowSeconds);
      const counted = `sum(last_over_time(llmbench_output_tokens_total{run_id="${stack.run.runId}",phase="measure"}[10m]))`;
      const [client] = await instantQuery(stack.prometheusUrl, counted, nowSeconds);
      const instance = new URL(stack.benchmarkedPage).host;
      expect(servers.map(({ metric, samples }) => [metric, samples[0]?.[1]])).toEqual([
        [{ instance }, client?.samples[0]?.[1]],
      ]);
    });

    test('what the result of the run replaces is gone when it is published, and was right', async () => {
      const until = queries.filter(({ legend }) => UNTIL_PUBLISHED.test(legend));
      const live = queries.filter(({ legend }) => LIVE.test(legend));
      for (const { expr } of live)
        expect(await instantQuery(stack.prometheusUrl, expand(expr), nowSeconds)).toEqual([]);
      const value = async (expr: string, atSeconds: number): Promise<number> => {
        const [series] = await instantQuery(stack.prometheusUrl, expand(expr), atSeconds);
        return Number(series?.samples[0]?.[1]);
      };
      for (const { expr, legend, title } of until) {
        expect(await instantQuery(stack.prometheusUrl, expand(expr), nowSeconds)).toEqual([]);
        const [, percentile, edge] = /^(p99) at (least|most)$/.exec(legend) ?? [];
        if (percentile === undefined) continue;
        const exact = queries.find((query) => query.title === title && query.legend === percentile);
        const difference = (await value(exact?.expr ?? '', nowSeconds)) - (await value(expr, beforePublished()));
        expect({ title, legend, right: edge === 'least' ? difference >= 0 : difference <= 0 }).toMatchObject({
          right: true,
        });
      }
    });

    test('it opens with the scrape interval of what it shows', async () => {
      const variable = dashboard.templating.list.find(({ name }) => name === 'scrape_interval');
      if (variable?.type !== 'query') return;
      const [first] = await offered(variable);
      // The shipped configuration scrapes runs and their servers every 2 s, this test the other servers every second.
      expect(first?.value).toBe(job === 'llmbench-server' ? '2s' : '1s');
    });

    const isRecorded = (metric: string): boolean => metric === 'up' || stack.recordedSamples(job).has(metric);

    test('the variables offer something to choose, the run among it', async () => {
      for (const variable of dashboard.templating.list.filter(({ type }) => type === 'query')) {
        const options = (await offered(variable)).map(({ value }) => value);
        if (variable.name === 'run') expect(options).toContain(stack.run.runId);
        if (['job', 'instance', 'model', 'system'].includes(variable.name)) expect(options).not.toEqual([]);
      }
    });

    test('an objective opens with the limit of the rules, then the bucket bounds, the nearest first', async () => {
      for (const variable of dashboard.templating.list.filter(({ name }) => name.includes('_slo'))) {
        const [, histogram = '', selector = ''] =
          /(\w[\w:]*_bucket)\{(.*?),le!="\+Inf"\}/.exec(variableQuery(variable)) ?? [];
        const bounds = await labelValues(stack.prometheusUrl, 'le', `${histogram}{${expand(selector)}}`);
        const finite = bounds.filter((bound) => bound !== '+Inf').map(Number);
        const limit =
          OBJECTIVES[variable.name.startsWith('ttft') ? 'ttft' : 'itl'] * (variable.name.endsWith('_ms') ? 1000 : 1);
        const choices = finite.length === 0 ? [] : [...new Set([limit, ...finite])];
        const distance = (bound: number): number => Math.abs(bound - limit);
        const options = (await offered(variable)).map(({ value }) => Number(value));
        expect([...options].sort()).toEqual([...choices].sort());
        expect(options.map(distance)).toEqual(choices.map(distance).sort((a, b) => a - b));
      }
    });

    test('a run is offered by its start and its scenario', async () => {
      const variable = dashboard.templating.list.find(({ name }) => name === 'run');
      if (variable === undefined) return;
      const run = (await offered(variable)).find(({ value }) => value === stack.run.runId);
      const start = new Date(stack.run.startSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
      expect(run?.text).toMatch(new RegExp(`^${start.slice(0, 13)}:\\d\\d:\\d\\dZ \\S+$`));
    });

    test('a run offers the servers that it measured, and all of them on demand', async () => {
      const variable = dashboard.templating.list.find(({ name }) => name === 'instance');
      if (variable === undefined || values['servers'] === undefined) return;
      const instances = async (servers: string): Promise<readonly string[]> => {
        const chosen = { ...values, servers, system: '.+' };
        const expanded = (text: string): string => expand(text, chosen);
        const options = await variableOptions(stack.prometheusUrl, variable, expanded, endSeconds());
        return options.map(({ value }) => value).sort();
      };
      const measured = new URL(stack.benchmarkedPage).host;
      const all = await instances('none');
      if (of === 'run' || job === MEASURED_JOB) {
        expect(await instances('.+')).toEqual([measured]);
        expect(all).toContain(measured);
      } else {
        // Of a system that the run has not measured, all servers are shown.
        expect(await instances('.+')).toEqual(all);
        expect(all).not.toContain(measured);
      }
      if (of === 'run') expect(all.length).toBeGreaterThan(3);
    });

    test('what is tried on another job is not on the pages of its own', async () => {
      for (const { prefix } of others.filter((other) => other.job !== job)) {
        expect(await overTheRun(`count({__name__=~"${prefix}.*",job="${job}"})`)).toEqual([]);
      }
    });

    test('where no server offers an objective, its panels ask without an error and show none', async () => {
      const unset: Readonly<Record<string, string>> = Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, name.includes('_slo') ? '' : value]),
      );
      const withObjective = queries.filter(({ expr }) => /\$\w*_slo/.test(expr));
      for (const { expr } of withObjective) {
        expect(await overTheRun(expand(expr, unset))).toEqual([]);
      }
    });

    test('the annotations mark the measure phase of the run and its stages', async () => {
      const marked: string[] = [];
      for (const annotation of dashboard.annotations.list) {
        const series = await overTheRun(expand(annotation.target?.expr ?? ''));
        marked.push(
          ...series.map(({ metric: { run_id: id = '', phase, stage, load } }) =>
            [id, phase ?? `stage ${stage ?? ''} ${load ?? ''}`].join(' '),
          ),
        );
      }
      if (dashboard.annotations.list.length === 0) return;
      const { runId } = stack.run;
      expect(marked).toEqual(
        expect.arrayContaining([
          `${runId} measure`,
          `${runId} stage 1 concurrency=8`,
          `${runId} stage 2 concurrency=4`,
        ]),
      );
    });
  });

  test('the servers that the run measures are scraped before its first request: no increase lacks any', async () => {
    const requests = 'vllm:request_success_total{job="llmbench-server"}';
    const gained = `sum(max_over_time(${requests}[5m]) - min_over_time(${requests}[5m]))`;
    const [server] = await instantQuery(stack.prometheusUrl, gained, nowSeconds);
    const ofRun = `sum(last_over_time(llmbench_requests_total{run_id="${stack.run.runId}",outcome="ok"}[5m]))`;
    const [client] = await instantQuery(stack.prometheusUrl, ofRun, nowSeconds);
    expect(Number(client?.samples[0]?.[1])).toBeGreaterThan(0);
    expect(server?.samples[0]?.[1]).toBe(client?.samples[0]?.[1]);
  });

  const recordedOf = ruleFiles('rules').flatMap(([, rules]) =>
    rules.map(({ record = '', expr, labels = {} }) => ({ record, expr, system: labels['system'] ?? '', labels })),
  );

  test.each(recordedOf)('the rule $record of $system has recorded', async ({ record, expr, labels, system }) => {
    const matchers = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const count = valueCount(await overTheRun(`${record}{${matchers.join(',')}}`));
    const sources = await Promise.all(
      selectors(expr)
        .filter(({ metric }) => !isFormer(metric))
        .map((selector) => overTheRun(selectorText(selector))),
    );
    // A system that is neither simulated nor recorded here has nothing to record.
    // Of former names and of a counter that is 0 before its first event, one is enough.
    const isThere = (series: readonly Series[]): boolean => series.length > 0;
    const there = expr.includes(' or ') ? sources.some(isThere) : sources.every(isThere);
    expect({ system, recorded: count > 0 }).toEqual({ system, recorded: there });
  });

  test('Prometheus evaluates every rule and every alert without an error', async () => {
    const unwell = (await ruleHealth(stack.prometheusUrl)).filter(({ health }) => health !== 'ok');
    expect(unwell).toEqual([]);
  });

  test('every exception is still needed', () => {
    const wasTried = ({ of, uid }: WithoutData): boolean =>
      trials.some((trial) => trial.of === of && dashboardOf(trial.file).uid.startsWith(uid));
    const needless = WITHOUT_DATA.filter(wasTried).flatMap((exception) =>
      exception.panels
        .filter((title) => empty.get(exception)?.has(title) !== true)
        .map((title) => `${exception.of} ${exception.uid}: ${title}`),
    );
    expect(needless).toEqual([]);
  });

  test('a run that there was not has no data in any panel of a run', async () => {
    const exact =
      'histogram_quantile(0.99, sum by (le) (last_over_time(llmbench_request_latency_seconds_bucket{run_id="none"}[5m])))';
    expect(await instantQuery(stack.prometheusUrl, exact, nowSeconds)).toEqual([]);
  });
});
