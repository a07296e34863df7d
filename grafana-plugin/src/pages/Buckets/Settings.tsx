import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import type { BucketOption, BucketSetting } from '../../../../core/histogram/bucket-setting.ts';
import { SnippetBox } from '../../components/SnippetBox.tsx';
import type { AdvisedHistogram, Storage } from './load-buckets.ts';
import type { HistogramSystem } from '../../catalog/server-catalog.ts';
import { t } from '../../text.ts';

interface Props {
  settings: readonly BucketSetting[];
  families: readonly AdvisedHistogram[];
  systems: readonly HistogramSystem[];
}

/** The options of the server to copy, or why there is nothing to set. */
export function Settings({ settings, families, systems }: Props) {
  const styles = useStyles2(getStyles);
  const added = families.reduce((sum, { advice }) => sum + advice.seriesAdded, 0);
  const today = families.reduce((sum, { advice }) => sum + advice.series, 0);
  const count = (isOfThem: (stored: Storage) => boolean) => families.filter(({ stored }) => isOfThem(stored)).length;
  const [classic, custom, exponential] = [
    count(({ kind }) => kind === 'classic'),
    count((stored) => stored.kind === 'native' && stored.schema === null),
    count((stored) => stored.kind === 'native' && stored.schema !== null),
  ];
  return (
    <div className={styles.settings}>
      {classic > 0 && (
        <p className={styles.line}>
          {t('buckets.cost', 'All bounds below together add {{added}} series to the {{today}} of these histograms.', {
            added: added.toLocaleString('en-US'),
            today: today.toLocaleString('en-US'),
          })}
        </p>
      )}
      {exponential > 0 && (
        <p className={styles.line}>
          {t(
            'buckets.exponential-why',
            'Native histograms with exponential buckets: {{count}}. They need no bucket options: their intervals are equally narrow wherever the values lie. In the scrape job, native_histogram_min_bucket_factor and native_histogram_bucket_limit can make them wider.',
            { count: exponential }
          )}
        </p>
      )}
      {custom > 0 && (
        <p className={styles.line}>
          {t(
            'buckets.custom-why',
            'Native histograms with custom bounds: {{count}}. Prometheus stores the bounds of the server, and returns those of buckets with observations. Add the bounds below to those of the server; "llmbench buckets URL" reads the bounds from the metrics page of the server and prints its options in full.',
            { count: custom }
          )}
        </p>
      )}
      {settings.map(({ option, text }) => (
        <div key={option.name} className={styles.setting}>
          {text === null ? (
            <p className={styles.line}>
              {t('buckets.not-enough', 'No value of {{option}} halves these intervals.', { option: option.name })}
            </p>
          ) : (
            <SnippetBox title={titleOf(option)} text={text} isWide />
          )}
          {option.note !== undefined && <p className={styles.note}>{option.note}</p>}
        </div>
      ))}
      {settings.length === 0 && classic > 0 && <p className={styles.line}>{nothingToSet(systems)}</p>}
    </div>
  );
}

function titleOf({ name, place, since }: BucketOption): string {
  const where = {
    argument: t('buckets.argument', 'Argument {{name}}', { name }),
    environment: t('buckets.environment', 'Environment variables {{name}}', { name }),
    file: t('buckets.file', 'Configuration file: {{name}}', { name }),
  }[place];
  return since === undefined ? where : `${where} (${since})`;
}

function nothingToSet(systems: readonly HistogramSystem[]): string {
  const without = systems.filter(({ bucket_options: options }) => options?.length === 0);
  return without.length > 0 && without.length === systems.length
    ? t('buckets.no-option', '{{server}} has no option that sets the bounds of its histograms.', {
        server: without.map(({ title }) => title).join(', '),
      })
    : t('buckets.nothing-to-set', 'No option of this server changes the intervals below.');
}

const getStyles = (theme: GrafanaTheme2) => ({
  settings: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
  setting: css({ minWidth: 0 }),
  line: css({ margin: 0 }),
  note: css({
    ...theme.typography.bodySmall,
    color: theme.colors.text.secondary,
    margin: theme.spacing(0.5, 0, 0),
  }),
});
