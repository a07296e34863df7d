import { css } from '@emotion/css';
import type { DataSourceInstanceSettings, GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Button, Icon, Spinner, TextLink, useStyles2 } from '@grafana/ui';
import React, { type ReactNode, useCallback } from 'react';
import { type Loaded, useLoaded } from '../../components/useLoaded.ts';
import { checkExporter, checkPrometheus, type PrometheusFindings } from './checks.ts';

interface Props {
  source: DataSourceInstanceSettings;
}

/** Tests a Prometheus data source and lists its llmbench runs and servers. */
export function PrometheusCheck({ source }: Props) {
  const load = useCallback(() => checkPrometheus(source.uid, Date.now()), [source.uid]);
  const checked = useLoaded(load);
  return (
    <Check
      source={source}
      checked={checked}
      isComplete={(found) => found.exporterIsScraped && found.systems.length > 0}
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

function prometheusText({ runs, exporterIsScraped, systems, nativeOnly }: PrometheusFindings): string {
  return [
    exporterIsScraped
      ? t('setup.exporter-scraped', 'llmbench is scraped.')
      : t('setup.exporter-not-scraped', 'llmbench is not scraped: see the scrape configuration below.'),
    t('setup.runs-found', '{{runs}} runs in the last day.', { runs }),
    systems.length > 0
      ? t('setup.systems-found', 'Servers: {{systems}}.', { systems: systems.join(', ') })
      : t('setup.no-systems', 'No known inference server is scraped.'),
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
