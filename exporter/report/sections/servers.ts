import { quantities } from '../../../catalog/equivalents.ts';
import { ABSENT, counted, quantity, quantityRange, significant, tickText } from '../../../core/text/quantities.ts';
import type { Unit } from '../../../core/run/statistic.ts';
import { distributionOf, type ResultFile, type ServerRequests, type ServersResult } from '../../../core/run/result.ts';
import { pathOf } from '../../../core/chart/path.ts';
import { fittedScale, ticksOf } from '../../../core/chart/scale.ts';
import { figure, mark, Y_RANGE } from '../figure.ts';
import { dataTable, html, type Html, headOfText } from '../html.ts';
import type { SeriesSummary, HistogramStatistics } from '../../../core/run/servers-file.ts';
import { type ReportData, type ServerSignal, type SignalQuantity } from '../report-data.ts';
import { heading } from '../words.ts';
import { timeAxis, type TimeAxis } from './timeline.ts';
import { FIRST_TOKEN_PARTS } from '../../../core/measures/first-token-time.ts';
import { firstTokenTimeOf } from '../../servers/summary/first-token-parts.ts';

/** More lines than this cannot be distinguished. */
const MAX_LINES = 6;
const MAX_ROWS = 24;

const TITLES: Readonly<Record<SignalQuantity, readonly [title: string, caption: string]>> = {
  requests_running: ['Server: requests running', 'in the batch, sum over the engines of a target'],
  requests_in_flight: ['Server: requests in flight', 'open at the frontend'],
  requests_waiting: ['Server: requests waiting', 'not scheduled yet'],
  kv_cache_usage: ['Server: KV cache in use', 'the fullest engine of a target'],
  generation_tokens_total: ['Server: tokens generated', 'tokens/s, increase of the counter'],
};

/** The servers' metrics, on the run's time axis and next to the client's figures. */
export function serverSection(data: ReportData): Html {
  const { result, requests, servers } = data;
  const targets = result.servers;
  if (servers === null && targets === null) return html``;
  const axis = timeAxis(data, requests?.bins.spanSeconds ?? result.window.seconds ?? 0);
  return html`<section>
    <h2>Server metrics</h2>
    ${targets === null ? null : targetTable(targets)}
    ${servers === null ? null : html`<div class="charts">${servers.signals.map((signal) => signalFigure(axis, signal))}</div>`}
    ${servers === null ? null : besideClient(result, servers.series)} ${firstTokenSection(data)}
  </section> `;
}

function signalFigure(axis: TimeAxis, { quantity: name, lines }: ServerSignal): Html {
  const [from, to] = axis.x.scale.domain;
  const shown = lines.slice(0, MAX_LINES).map(({ target, family, seconds, values }, i) => ({
    label: `${family} at ${hostOf(target)}`,
    style: `c${i + 1}`,
    // Servers are scraped before the first request and after the last.
    points: seconds.flatMap((at, j) => (at < from || at > to ? [] : [[at, values[j] ?? null] as const])),
  }));
  const scale = fittedScale(
    shown.flatMap(({ points }) => points.flatMap(([, value]) => value ?? [])),
    Y_RANGE,
    4,
  );
  const [title, caption] = TITLES[name];
  const omitted = lines.length - shown.length;
  return figure({
    title,
    caption: omitted > 0 ? `${caption}; ${omitted} more targets are not shown` : caption,
    legend: shown,
    x: axis.x,
    y: {
      scale,
      ticks: ticksOf(scale, 4),
      text: (value) => (name === 'kv_cache_usage' ? tickText(value, 'ratio') : significant(value)),
    },
    behind: axis.behind,
    marks: shown.map(({ points, style }) =>
      mark(
        'line',
        pathOf(points.map(([at, value]) => [axis.x.scale(at), value === null ? null : scale(value)])),
        style,
      ),
    ),
  });
}

function hostOf(target: string): string {
  return URL.canParse(target) ? new URL(target).host : target;
}

const includedText = ({ cool_down, warmup }: ServerRequests): string =>
  Object.entries({ 'cool-down': cool_down, 'warm-up': warmup })
    .map(([phase, count]) =>
      count === undefined ? '' : `, ${significant(count)} of the ${phase}, which these metrics include`,
    )
    .join('');

function targetTable({ targets, requests, exact }: ServersResult): Html {
  const counts =
    requests === null
      ? null
      : html`<p class="note">
          ${requests.family} counts ${requests.server === null ? ABSENT : significant(requests.server)} requests, the
          client ${significant(requests.client)}
          (${requests.population}${includedText(requests)})${exact === true ? ': the server metrics cover exactly this run' : ''}.
        </p>`;
  const rows = targets.map(
    ({ target, system, state, scrapes, failed_scrapes, scrape_duration_seconds: { p50 }, notes }) =>
      html`<tr>
        <td class="text"><code>${target}</code>${notes.map((note) => html`<small>${note}</small>`)}</td>
        <td>${system ?? ABSENT}</td>
        <td>${state.replaceAll('_', ' ')}</td>
        <td>${significant(scrapes)}</td>
        <td>${significant(failed_scrapes)}</td>
        <td>${quantity(p50, 'seconds')}</td>
      </tr>`,
  );
  return html`${counts} ${dataTable(['Target', 'System', 'State', 'Scrapes', 'Failed', 'Scrape p50'], rows)}`;
}

const NOT_EXACT = ' The servers’ values do not cover exactly the requests of this run: see their n.';

interface HistogramSummary extends SeriesSummary {
  readonly statistics: HistogramStatistics;
}

/** Whether the histogram counted any values of this server. */
const hasValues = (series: SeriesSummary): series is HistogramSummary =>
  series.repeats === null && series.statistics?.kind === 'histogram' && (series.statistics.count ?? 0) > 0;

/** The servers' histograms of quantities that the client also measures. */
function besideClient(result: ResultFile, series: readonly SeriesSummary[]): Html | null {
  const compared = quantities().flatMap(({ measure, quantity: name, definition, unit, families }) => {
    if (measure === undefined) return [];
    const own = series.filter(hasValues).filter(({ family }) => families.some((each) => each.family === family));
    return own.length === 0
      ? []
      : [{ measure, name, definition, unit: unit === 'tokens' ? ('tokens' as const) : ('seconds' as const), own }];
  });
  if (compared.length === 0) return null;
  const isExact = result.servers?.exact !== false;
  const late = result.servers?.inexact_families ?? [];
  const isExactOf = ({ target, family }: SeriesSummary): boolean =>
    isExact && !late.some((each) => each.target === target && each.family === family);
  const rows = compared.flatMap(({ measure, name, definition, unit, own }) => [
    clientRow(result, measure),
    ...own.slice(0, MAX_ROWS).map((each) => serverRow(each, name, { definition, unit, isExact: isExactOf(each) })),
    ...(own.length > MAX_ROWS
      ? [
          html`<tr>
            <td class="text" colspan="6">${own.length - MAX_ROWS} more series are in servers.json</td>
          </tr>`,
        ]
      : []),
  ]);
  return html`<h2>Client and server</h2>
    <p class="note">
      A server's percentile is Prometheus' estimate from buckets, with the interval that contains the true percentile.
      The client's percentile is exact.${isExact ? null : NOT_EXACT} They differ by the network${roundTrip(result)}, the
      connection and the definitions of start and end.
    </p>
    ${dataTable(['Measure', 'n', 'mean', 'p50', 'p90', 'p99'], rows)}`;
}

function roundTrip({ network }: ResultFile): string {
  return network === undefined
    ? ''
    : ` (a round trip of at most ${quantity(network.min_seconds, 'seconds')}, by TCP handshakes and the fastest response)`;
}

function clientRow(result: ResultFile, name: string): Html {
  const found = distributionOf(result.measures, name);
  const value = (number: number | null | undefined): string => quantity(number, found?.unit ?? 'seconds');
  return html`<tr>
    <th>${heading({ measure: name, clock: 'sent' })}<small>client, ok requests</small></th>
    <td>${counted(found?.n)}</td>
    <td>${value(found?.mean)}</td>
    ${(['p50', 'p90', 'p99'] as const).map((p) => html`<td><b>${value(found?.percentiles[p].value)}</b></td>`)}
  </tr>`;
}

function serverRow(
  { target, family, labels, per, statistics }: HistogramSummary,
  name: string,
  { definition, unit, isExact }: { readonly definition: string; readonly unit: Unit; readonly isExact: boolean },
): Html {
  const cells = (['p50', 'p90', 'p99'] as const).map((p) => {
    const found = statistics.percentiles?.[p];
    const [low, high] = found?.bounds ?? [null, null];
    const range =
      found?.bounds == null || low === null
        ? ''
        : high === null
          ? `above ${quantity(low, unit)}`
          : quantityRange([low, high], unit);
    return html`<td>${quantity(found?.estimate, unit)}<small>${range}</small></td>`;
  });
  const set = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return html`<tr>
    <td class="text">
      <code>${family}</code
      ><small
        >${heading({ measure: name, clock: 'sent' })}: ${definition}
        ${per === null ? '' : `Per ${per}. `}${hostOf(target)}${set.length > 0 ? ` · ${set.join(', ')}` : ''}</small
      >
    </td>
    <td>${significant(statistics.count ?? NaN)}${isExact ? null : html`<small>not exact</small>`}</td>
    <td>${quantity(statistics.mean, unit)}</td>
    ${cells}
  </tr>`;
}

const COLORS = 6;

/** Where the mean time to first token goes, as one bar; nothing if no server observes it. */
function firstTokenSection({ result, servers }: Pick<ReportData, 'result' | 'servers'>): Html | null {
  const time = servers === null ? null : firstTokenTimeOf(result, servers.series);
  if (time === null) return null;
  const notes = time.notes.map((note) => html`<p class="note">${note}</p>`);
  const title = html`<h2>Where the time to first token goes</h2>`;
  if (time.parts === null) return html`${title}${notes}`;
  const whole = time.parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const color = (i: number): string => `background:var(--c${(i % COLORS) + 1})`;
  const bar = time.parts.map(
    ({ seconds }, i) => html`<span style="width:${((seconds / whole) * 100).toFixed(3)}%;${color(i)}"></span>`,
  );
  const rows = time.parts.map(
    ({ part, seconds, families }, i) =>
      html`<tr>
        <th><span class="share" style="width:8px;${color(i)}"></span> ${FIRST_TOKEN_PARTS[part]}</th>
        <td>${quantity(seconds, 'seconds')}</td>
        <td>${quantity(seconds / whole, 'ratio')}</td>
        <td class="text">${families.map((family) => html`<small><code>${family}</code></small>`)}</td>
      </tr>`,
  );
  const total = html`<tr>
    <th>Together</th>
    <td>${quantity(whole, 'seconds')}</td>
    <td></td>
    <td></td>
  </tr>`;
  return html`${title}
    <p class="note">
      Means over the same requests add up: each part is a sum of the servers’ histograms in the window, divided by the
      requests. What no part explains is not attributed.
    </p>
    <div class="stack">${bar}</div>
    ${dataTable(['Part', 'Mean', 'Share', headOfText('From')], [...rows, total])}${notes}`;
}
