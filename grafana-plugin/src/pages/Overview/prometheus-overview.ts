import { dateTimeFormat } from '@grafana/data';
import { statisticTitle } from '../../../../core/measures/names.ts';
import { changeText } from '../../../../core/text/quantities.ts';
import type { Stat } from '../../../../core/api/verdict.ts';
import { overviewOf } from '../../../../core/api/overview.ts';
import { OVERDUE_INTERVALS } from '../../../../core/api/scenarios.ts';
import { oldestFirst } from '../../../../core/run/run-id.ts';
import { queryPrometheus, type PrometheusSeries, type PrometheusTarget } from '../../prometheus/query-prometheus.ts';
import { runQueries, runsOfSeries } from '../../runs/prometheus-runs.ts';
import { byUrgency, overdueItem, type AttentionItem } from './attention.ts';
import type { Overview } from './overview.ts';
import { t } from '../../text.ts';

const RANGE_SECONDS = 24 * 3600;

/** What Prometheus alone knows: the runs of the last day, and the newest state of the scenarios in it. */
export async function prometheusOverview(uid: string): Promise<Overview> {
  const to = Date.now();
  const targets = [...runQueries(RANGE_SECONDS), ...scenarioQueries()];
  const series = await queryPrometheus(uid, targets, { from: to - RANGE_SECONDS * 1000, to });
  const runs = runsOfSeries(series, to).sort((a, b) => oldestFirst(b, a));
  const { running, latest } = overviewOf(runs, [], 20);
  const attention = byUrgency(scenarioAttention(series, to / 1000));
  return {
    attention,
    attentionTotal: new Set(attention.map(({ scenario }) => scenario)).size,
    running,
    latest,
    stored: null,
  };
}

function scenarioQueries(): PrometheusTarget[] {
  const last = (family: string, by: string, matchers = '') =>
    `max by (${by}) (last_over_time(llmbench_scenario_${family}${matchers}[${RANGE_SECONDS}s]))`;
  return [
    ['open', `${last('regression_open', 'scenario')} == 1`],
    ['since', last('regression_open_since_timestamp_seconds', 'scenario')],
    ['effect', last('effect_ratio', 'scenario, measure, stat', '{bound="estimate"}')],
    ['measure', `${last('measure_verdict', 'scenario, measure, stat', '{verdict="regressed"}')} == 1`],
    ['verdict', `${last('verdict', 'scenario, verdict', '{verdict=~"suspect|undecided"}')} == 1`],
    ['completed', last('last_completed_timestamp_seconds', 'scenario')],
    ['interval', last('expected_interval_seconds', 'scenario')],
  ].map(([refId = '', expr = '']) => ({ refId: `scenario ${refId}`, expr, instant: true }));
}

/** What the series of the scenarios ask for, at a time in seconds since 1970. */
export function scenarioAttention(series: readonly PrometheusSeries[], now: number): AttentionItem[] {
  const of = (refId: string) => series.filter((one) => one.refId === `scenario ${refId}`);
  const valueOf = (refId: string, scenario: string) =>
    of(refId)
      .find(({ labels }) => labels['scenario'] === scenario)
      ?.values.at(-1) ?? null;
  const regressed = of('open').map(({ labels }): AttentionItem => {
    const scenario = labels['scenario'] ?? '';
    return {
      kind: 'regressed',
      scenario,
      sentence: largestChange(of('effect'), of('measure'), scenario),
      facts: beganFacts(valueOf('since', scenario)),
      compareUrl: null,
    };
  });
  const judged = of('verdict').map(({ labels }): AttentionItem => {
    const isSuspect = labels['verdict'] === 'suspect';
    return {
      kind: isSuspect ? 'suspect' : 'undecided',
      scenario: labels['scenario'] ?? '',
      sentence: isSuspect
        ? t('attention.suspect', 'The newest run is worse; further runs have to confirm it.')
        : t('attention.undecided', 'The newest check could not decide.'),
      facts: [],
      compareUrl: null,
    };
  });
  const overdue = of('interval').flatMap(({ labels, values }) => {
    const [scenario, interval] = [labels['scenario'] ?? '', values.at(-1) ?? 0];
    const last = valueOf('completed', scenario);
    return last !== null && now - last <= OVERDUE_INTERVALS * interval
      ? []
      : [overdueItem(scenario, last === null ? null : new Date(last * 1000).toISOString(), interval)];
  });
  return [...regressed, ...judged, ...overdue];
}

function beganFacts(seconds: number | null): string[] {
  return seconds === null
    ? []
    : [
        t('regressions.began', 'began {{time}}', {
          time: dateTimeFormat(seconds * 1000),
        }),
      ];
}

/** Of the measures that have regressed. */
function largestChange(
  effects: readonly PrometheusSeries[],
  regressed: readonly PrometheusSeries[],
  scenario: string
): string {
  const key = ({ labels }: PrometheusSeries) => JSON.stringify([labels['scenario'], labels['measure'], labels['stat']]);
  const worse = new Set(regressed.map(key));
  const [largest] = effects
    .filter((one) => one.labels['scenario'] === scenario && worse.has(key(one)))
    .sort((a, b) => distance(b) - distance(a));
  if (largest === undefined) {
    return t('attention.regressed', 'Regressed.');
  }
  const { measure = '', stat = '' } = largest.labels;
  return t('attention.largest', 'Largest change: {{measure}} {{change}}.', {
    measure: statisticTitle({ measure, stat: stat as Stat, clock: 'sent' }),
    change: changeText(largest.values.at(-1) ?? 1),
  });
}

function distance({ values }: PrometheusSeries): number {
  return Math.abs(Math.log(values.at(-1) ?? 1));
}
