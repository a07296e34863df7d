import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { baseDashboard } from './base-dashboard.ts';
import { OVER_TIME } from './wording.ts';
import type { Histograms } from '../../prometheus/native-histograms.ts';
import { cell, closedRow, lines, row, servers, type RowSpec, type Signal } from './server/panel-spec.ts';
import { type DisplayUnit } from './panels/display-units.ts';
import { addRow } from './server/server-dashboard.ts';
import {
  datasourceVariable,
  familyVariable,
  gaugeVariable,
  histogramVariable,
  IN_MENU,
  runOfSystemVariable,
  scrapeIntervalVariable,
  serverVariables,
} from './variables.ts';

/** Prometheus itself records it for every target. */
const PRESENCE = 'up';
/** Of panels of families that the viewer chooses. */
const NO_VALUE =
  'No data of this family in the time range: choose another instance or family above, or a longer time range.';
const CHOSEN = 'job=~"$job",instance=~"$instance"';

function ask(expr: string, legend: string, display: DisplayUnit): Signal {
  return { expr, legend, display, families: [] };
}

function scraping(): RowSpec {
  return row(1, 'Target availability', [
    servers('One row per target: is it scraped.', [
      cell(
        'Up',
        'whether the last scrape was answered.',
        [ask(`min by (instance) (up{${CHOSEN}})`, '', { unit: 'none' })],
        'down',
      ),
      cell(
        'Samples per scrape',
        'samples that a target exposes. A drop: families are missing, after a restart or an upgrade.',
        [ask(`max by (instance) (scrape_samples_scraped{${CHOSEN}})`, '', { unit: 'locale' })],
      ),
      cell('Scrape takes', 'duration of the last scrape.', [
        ask(`max by (instance) (scrape_duration_seconds{${CHOSEN}})`, '', { unit: 's' }),
      ]),
    ]),
    lines(
      'Duration of a scrape',
      'If it rises with the load, the server writes its page in the loop that serves requests: scrape it less often.',
      [ask(`max by (job, instance) (scrape_duration_seconds{${CHOSEN}})`, '{{job}} {{instance}}', { unit: 's' })],
    ),
    lines('CPU', 'Cores that the process uses, if it exposes them.', [
      ask(
        `sum by (job, instance) (rate(process_cpu_seconds_total{${CHOSEN}}[$__rate_interval]))`,
        '{{job}} {{instance}}',
        { unit: 'none', axis: 'cores' },
      ),
    ]),
    lines('Memory', 'Resident memory of the process, if it exposes it. Unbounded growth is a leak.', [
      ask(`sum by (job, instance) (process_resident_memory_bytes{${CHOSEN}})`, '{{job}} {{instance}}', {
        unit: 'bytes',
      }),
    ]),
  ]);
}

/** Queries about the chosen histogram; the variable has the name of its buckets, or, for either kind, of the family. */
const HISTOGRAM: Readonly<Record<Histograms, { readonly buckets: string; readonly count: string }>> = {
  classic: {
    buckets: rate(`__name__="$histogram"`),
    count: rate(`__name__="$histogram",le="+Inf"`),
  },
  either: {
    buckets: `${rate('__name__="${histogram}_bucket"')} or ignoring (le) ${rate('__name__="$histogram"')}`,
    count: `${rate('__name__="${histogram}_count"')} or histogram_count(${rate('__name__="$histogram"')})`,
  },
};

function rate(matchers: string): string {
  return `rate({${matchers},${CHOSEN}}[$__rate_interval])`;
}

function chosenHistogram(histograms: Histograms): RowSpec {
  const { buckets, count } = HISTOGRAM[histograms];
  return row(2, 'Histograms', [
    lines(
      'Percentiles of $histogram',
      `In the unit of the family. For an unknown family, neither the meaning nor the time of an observation is known: read its help text. ${OVER_TIME}`,
      [
        ...[0.5, 0.99].map((quantile) =>
          ask(
            `histogram_quantile(${quantile}, sum by (instance, le) (${buckets}))`,
            `p${quantile * 100} {{instance}}`,
            {
              unit: 'none',
            },
          ),
        ),
      ],
      { noValue: NO_VALUE },
    ),
    lines(
      'Observations of $histogram',
      `Per second. Percentiles of few observations are unreliable.`,
      [ask(`sum by (instance) (${count})`, '{{instance}}', { unit: 'cps' })],
      { noValue: NO_VALUE },
    ),
  ]);
}

function others(): RowSpec[] {
  return [
    row(3, 'Counters', [
      lines(
        'Increase of $counter',
        'Per second.',
        [
          ask(`sum by (instance) (rate({__name__="$counter",${CHOSEN}}[$__rate_interval]))`, '{{instance}}', {
            unit: 'cps',
          }),
        ],
        { noValue: NO_VALUE },
      ),
    ]),
    closedRow(4, 'Gauges', [
      lines(
        'Highest of $gauge',
        'Highest value of each instance. The series are not added, because the meaning of an unknown gauge is not known.',
        [
          ask(`max by (instance) ({__name__="$gauge",${CHOSEN}})`, '{{instance}}', {
            unit: 'none',
          }),
        ],
        { noValue: NO_VALUE },
      ),
    ]),
  ];
}

/** "Any server": for targets that no catalog describes; the viewer chooses the families. */
export function generic(histograms: Histograms = 'classic'): Dashboard {
  const dashboard = baseDashboard({
    uid: 'llmbench-generic',
    title: 'LLM server: any other',
    description:
      'For servers that llmbench does not know: is it scraped, and whatever families of it the viewer chooses',
  }).variables([
    datasourceVariable(),
    // Only its phases are shown.
    runOfSystemVariable(null).hide(IN_MENU),
    ...serverVariables({ presence: PRESENCE, model: null }),
    // First: of the three, its names are the ones that fit beside the instances.
    familyVariable('counter', 'Counter', '__name__=~".+_total"'),
    histograms === 'classic' ? familyVariable('histogram', 'Histogram', '__name__=~".+_bucket"') : histogramVariable(),
    // Its row is closed.
    (histograms === 'classic'
      ? familyVariable('gauge', 'Gauge', '__name__!~"ALERTS.*|.+_(total|bucket|sum|count|created|info)"')
      : gaugeVariable()
    ).hide(IN_MENU),
    scrapeIntervalVariable(`${PRESENCE}{job=~"$job",instance=~"$instance"}`),
  ]);
  for (const each of [scraping(), chosenHistogram(histograms), ...others()]) addRow(dashboard, each);
  return dashboard.build();
}
