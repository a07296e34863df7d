import { css } from '@emotion/css';
import type { DataSourceInstanceSettings, GrafanaTheme2 } from '@grafana/data';
import { Button, Icon, Spinner, TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback, type ReactNode } from 'react';
import type { StatusResponse } from '../../../../core/api/service.ts';
import { SYSTEMS } from '../../catalog/systems.ts';
import { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { useLoaded, type Loaded } from '../../hooks/useLoaded.ts';
import { FIRST_TOKEN_HISTOGRAMS } from '../../catalog/server-catalog.ts';
import { nativeOnlyQuery } from '../../prometheus/native-queries.ts';
import { queryPrometheus, type PrometheusSeries, type PrometheusTarget } from '../../prometheus/query-prometheus.ts';
import { serverQueries, systemsOfSeries } from '../../prometheus/server-queries.ts';
import { t } from '../../text.ts';

/** The longest interval at which the recording rules have a rate at every evaluation. */
const RULES_MAX_INTERVAL_SECONDS = 60;
/** Scrapes jitter. */
const ROUNDING_SECONDS = 1;
const REF_ID = 'scrape interval';

/** How often a job scrapes inference servers. */
interface JobInterval {
  job: string;
  seconds: number;
}

/** Queries for the intervals of the jobs that have scraped a known server in the last ten minutes. */
function intervalQueries(): PrometheusTarget[] {
  // The time between a sample and the one before it, at the second at which it arrives.
  const gaps = ({ presence }: { presence: string }) => `timestamp(${presence}) - timestamp(${presence} offset 1s) > 0`;
  return SYSTEMS.map((system) => ({
    refId: `${system.id} ${REF_ID}`,
    expr: `max by (job) (min_over_time((${gaps(system)})[10m:1s]))`,
    instant: true,
  }));
}

/** The slowest first. */
export function jobIntervals(series: readonly PrometheusSeries[]): JobInterval[] {
  const slowest = new Map<string, number>();
  for (const { labels, values } of series.filter(({ refId }) => refId.endsWith(REF_ID))) {
    const job = labels['job'] ?? '';
    slowest.set(job, Math.max(slowest.get(job) ?? 0, Math.round(values.at(-1) ?? 0)));
  }
  return [...slowest]
    .map(([job, seconds]) => ({ job, seconds }))
    .sort((a, b) => b.seconds - a.seconds || a.job.localeCompare(b.job));
}

/** The jobs for which the rules have gaps. */
export function tooSlow(intervals: readonly JobInterval[]): JobInterval[] {
  return intervals.filter(({ seconds }) => seconds > RULES_MAX_INTERVAL_SECONDS + ROUNDING_SECONDS);
}

interface Props {
  source: DataSourceInstanceSettings;
}

/** Tests a Prometheus data source and lists the servers that it scrapes. */
export function PrometheusCheck({ source }: Props) {
  const load = useCallback(() => checkPrometheus(source.uid, Date.now()), [source.uid]);
  const checked = useLoaded(load);
  return (
    <Check
      source={source}
      checked={checked}
      isComplete={({ exporterIsScraped, systems, intervals }) =>
        exporterIsScraped && systems.length > 0 && tooSlow(intervals).length === 0
      }
    >
      {(found) => prometheusText(found)}
    </Check>
  );
}

/** Tests an exporter and counts its runs. */
export function ExporterCheck({ source }: Props) {
  const load = useCallback(() => checkExporter(source.url ?? ''), [source.url]);
  const checked = useLoaded(load);
  return (
    <Check source={source} checked={checked} isComplete={({ runs }) => runs.finished + runs.running > 0}>
      {({ version, runs, allows_baseline_changes: allowsChanges }) =>
        [
          t(
            'setup.exporter-found',
            'llmbench {{version}}: {{finished}} finished runs, {{running}} running, {{damaged}} unreadable.',
            { version, ...runs }
          ),
          allowsChanges
            ? t('setup.changes-on', 'Editors can change baselines if the data source has the token.')
            : t('setup.changes-off', 'Baselines cannot be changed from Grafana: see the snippet below.'),
        ].join(' ')
      }
    </Check>
  );
}

interface CheckProps<T> extends Props {
  checked: Loaded<T>;
  isComplete: (found: T) => boolean;
  children: (found: T) => ReactNode;
}

function Check<T>({ source, checked: { data, error, loading, reload }, isComplete, children }: CheckProps<T>) {
  const styles = useStyles2(getStyles);
  return (
    <div className={styles.row}>
      <span className={styles.icon}>
        {loading ? (
          <Spinner inline />
        ) : error ? (
          <Icon name="times-circle" className={styles.bad} />
        ) : data && isComplete(data) ? (
          <Icon name="check-circle" className={styles.good} />
        ) : (
          <Icon name="exclamation-triangle" className={styles.warning} />
        )}
      </span>
      <TextLink href={`/connections/datasources/edit/${source.uid}`}>{source.name}</TextLink>
      <span className={styles.text} role="status">
        {error ? error.message : data ? children(data) : t('setup.checking', 'Testing …')}
      </span>
      <Button size="sm" variant="secondary" fill="text" icon="sync" onClick={reload} disabled={loading}>
        {t('setup.test', 'Test again')}
      </Button>
    </div>
  );
}

function prometheusText({ exporterIsScraped, systems, intervals, nativeOnly }: PrometheusFindings): string {
  return [
    exporterIsScraped
      ? t('setup.exporter-scraped', 'llmbench is scraped.')
      : t('setup.exporter-not-scraped', 'llmbench is not scraped: see the scrape configuration below.'),
    systems.length > 0
      ? t('setup.systems-found', 'Servers: {{systems}}.', { systems: systems.join(', ') })
      : t('setup.no-systems', 'No known inference server is scraped.'),
    ...intervals.map(({ job, seconds }) =>
      t('setup.interval', 'Job {{job}} scrapes every {{seconds}} s.', { job, seconds })
    ),
    ...(tooSlow(intervals).length > 0
      ? [
          t(
            'setup.interval-too-long',
            'The rules and alerts have gaps: they require a scrape every {{limit}} s or more often.',
            { limit: RULES_MAX_INTERVAL_SECONDS }
          ),
        ]
      : []),
    ...(nativeOnly.length > 0
      ? [
          t(
            'setup.native-only',
            'Stored as native histograms only: {{families}}. The app reads them; use the dashboards and rules in native/.',
            { families: nativeOnly.join(', ') }
          ),
        ]
      : []),
  ].join(' ');
}

const getStyles = (theme: GrafanaTheme2) => ({
  row: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1) }),
  icon: css({ width: 20, display: 'inline-flex' }),
  text: css({ color: theme.colors.text.secondary, flex: 1, minWidth: 300 }),
  good: css({ color: theme.colors.success.text }),
  bad: css({ color: theme.colors.error.text }),
  warning: css({ color: theme.colors.warning.text }),
});

/** The llmbench data in a Prometheus. */
interface PrometheusFindings {
  /** Whether `llmbench serve` is scraped now. */
  exporterIsScraped: boolean;
  systems: string[];
  /** Of the jobs that scrape servers now. */
  intervals: JobInterval[];
  /** Histograms, with their job, that it stores as native ones only, which require the dashboards and rules in native/. */
  nativeOnly: string[];
}

const RANGE_SECONDS = 24 * 3600;

/** Queries the last day. Rejects when the query fails. */
async function checkPrometheus(uid: string, nowMs: number): Promise<PrometheusFindings> {
  const series = await queryPrometheus(
    uid,
    [
      { refId: 'native', expr: nativeOnlyQuery(FIRST_TOKEN_HISTOGRAMS), instant: true },
      { refId: 'exporter', expr: 'count(llmbench_build_info)', instant: true },
      ...serverQueries(RANGE_SECONDS),
      ...intervalQueries(),
    ],
    { from: nowMs - RANGE_SECONDS * 1000, to: nowMs }
  );
  const value = (name: string) => series.find(({ refId }) => refId === name)?.values.at(-1) ?? 0;
  return {
    exporterIsScraped: value('exporter') > 0,
    systems: systemsOfSeries(series).map(({ system }) => system.title),
    intervals: jobIntervals(series),
    nativeOnly: series
      .filter(({ refId }) => refId === 'native')
      .map(({ labels }) => `${labels['family']} (${labels['job'] ?? ''})`),
  };
}

function checkExporter(url: string): Promise<StatusResponse> {
  return new ExporterApi(url).status();
}
