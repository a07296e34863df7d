import { readFileSync } from 'node:fs';
import { panelsOf, type ClassicDashboard } from '../../dashboards/classic-json.ts';
import { interpolate } from '../../dashboards/testing/grafana-variables.ts';
import { openingValues } from '../../dashboards/testing/variable-options.ts';

/** A dashboard as it is opened: the time range, and what is chosen in its variable `run`. */
export interface Opened {
  readonly url: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly runIds: readonly string[];
}

/** What one query of a panel took. */
export interface QueryCost {
  readonly panel: string;
  readonly ms: number;
  /** Samples that Prometheus read, of every step anew. */
  readonly samples: number;
  readonly series: number;
}

/** A panel of 1,000 points over 30 days: Grafana rounds the step to half an hour. */
const STEP_SECONDS = 1800;
const SCRAPE_INTERVAL_SECONDS = 2;

/** Sends the queries of all panels one after the other, as Grafana does for a wide panel. */
export async function dashboardCosts(file: URL, opened: Opened): Promise<readonly QueryCost[]> {
  const dashboard = JSON.parse(readFileSync(file, 'utf8')) as ClassicDashboard;
  const { url, endSeconds } = opened;
  const expandWith = (text: string, chosen: Values): string => expand(text, opened, chosen);
  const values = await openingValues(url, dashboard.templating.list, expandWith, endSeconds);
  const costs: QueryCost[] = [];
  for (const { title, targets = [] } of panelsOf(dashboard)) {
    for (const { expr, instant } of targets) {
      costs.push({ panel: title, ...(await cost(expand(expr, opened, values), instant === true, opened)) });
    }
  }
  return costs;
}

type Values = Readonly<Record<string, string>>;

function expand(text: string, { startSeconds, endSeconds, runIds }: Opened, values: Values): string {
  const expanded = interpolate(text, {
    runId: runIds.join('|'),
    job: '.+',
    rangeSeconds: endSeconds - startSeconds,
    scrapeIntervalSeconds: SCRAPE_INTERVAL_SECONDS,
    values: { ...values, __rate_interval: `${STEP_SECONDS + SCRAPE_INTERVAL_SECONDS}s` },
  });
  // A heatmap is repeated for each run: there the variable is one run.
  return expanded.replaceAll(`run_id="${runIds.join('|')}"`, `run_id="${runIds.at(-1) ?? ''}"`);
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly unknown[];
    readonly stats: { readonly samples: { readonly totalQueryableSamples: number } };
  };
}

async function cost(
  query: string,
  isInstant: boolean,
  { url, startSeconds, endSeconds }: Opened,
): Promise<Omit<QueryCost, 'panel'>> {
  const times = isInstant
    ? { time: String(endSeconds) }
    : { start: String(startSeconds), end: String(endSeconds), step: String(STEP_SECONDS) };
  const body = new URLSearchParams({ query, stats: 'all', ...times });
  const begun = performance.now();
  const response = await fetch(`${url}/api/v1/${isInstant ? 'query' : 'query_range'}`, { method: 'POST', body });
  const answer = (await response.json()) as Answer;
  const ms = performance.now() - begun;
  if (answer.status !== 'success') throw new Error(`${answer.error ?? answer.status}: ${query}`);
  return { ms, series: answer.data.result.length, samples: answer.data.stats.samples.totalQueryableSamples };
}
