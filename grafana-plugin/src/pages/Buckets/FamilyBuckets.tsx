import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { useStyles2 } from '@grafana/ui';
import React from 'react';
import {
  ADVISED_QUANTILES,
  type AdvisedPercentile,
  type GroupAdvice,
} from '../../../../core/histogram/bucket-advice.ts';
import { optionOf } from '../../../../core/histogram/bucket-setting.ts';
import { bucketIntervalText, familyValueText, significant } from '../../../../core/text/quantities.ts';
import { BucketPlot } from './BucketPlot.tsx';
import type { AdvisedHistogram } from './load-buckets.ts';
import { t } from '../../text.ts';

/** Groups of labels that are drawn. */
const MAX_GROUPS = 4;

const PERCENTILES = Object.keys(ADVISED_QUANTILES) as AdvisedPercentile[];

/** One family: its grid with the intervals of the percentiles, and the bounds to add. */
export function FamilyBuckets({ advice, known, stored }: AdvisedHistogram) {
  const styles = useStyles2(getStyles);
  const unit = known?.family.unit ?? null;
  const { groups } = advice;
  return (
    <section className={styles.family} aria-label={advice.family}>
      <h3 className={styles.title}>{advice.family}</h3>
      {known && <p className={styles.help}>{known.family.help}</p>}
      {groups.slice(0, MAX_GROUPS).map((group, i) => (
        <div key={i} className={styles.group}>
          <div className={styles.plot}>
            {groups.length > 1 && <p className={styles.labels}>{labelsText(group, groups)}</p>}
            <BucketPlot group={group} unit={unit} name={advice.family} />
          </div>
          <Intervals group={group} unit={unit} />
        </div>
      ))}
      {groups.length > MAX_GROUPS && (
        <p className={styles.help}>
          {t('buckets.more-groups', 'Further sets of labels: {{count}}', { count: groups.length - MAX_GROUPS })}
        </p>
      )}
      <p className={styles.proposal}>{proposalText({ advice, known, stored })}</p>
    </section>
  );
}

function Intervals({ group, unit }: { group: GroupAdvice; unit: string | null }) {
  const styles = useStyles2(getStyles);
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">{t('buckets.n', 'n {{count}}', { count: significant(group.n) })}</th>
          <th scope="col">
            {group.exact ? t('buckets.within', 'within') : t('buckets.bucket-of-estimate', 'bucket of the estimate')}
          </th>
          <th scope="col">{t('buckets.width', 'width')}</th>
        </tr>
      </thead>
      <tbody>
        {PERCENTILES.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{intervalText(group, name, unit)}</td>
            <td>{widthText(group, name)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function intervalText({ intervals }: GroupAdvice, name: AdvisedPercentile, unit: string | null): string {
  const interval = intervals[name];
  if (interval === null) {
    return '–';
  }
  const { low, high, width } = interval;
  const text = bucketIntervalText({ low: finite(low), high: finite(high), width }, unit);
  return interval.buckets > 1 ? `${text} *` : text;
}

function widthText({ intervals }: GroupAdvice, name: AdvisedPercentile): string {
  const relative = intervals[name]?.relativeWidth ?? null;
  return relative === null ? '–' : `${Math.round(relative * 100)} %`;
}

function proposalText({ advice, known, stored }: AdvisedHistogram): string {
  const { divided, missingAbove, groups, series, seriesAdded } = advice;
  const unit = known?.family.unit ?? null;
  const isSpread = groups.some(({ intervals }) => Object.values(intervals).some((one) => (one?.buckets ?? 0) > 1));
  const bounds = divided.map(({ bound }) => familyValueText(bound, unit)).join(', ');
  const isExponential = stored.kind === 'native' && stored.schema !== null;
  const sentences = [
    isExponential &&
      t(
        'buckets.exponential',
        'Native histogram of schema {{schema}}: the upper bound of a bucket is {{factor}} times its lower one. It needs no bucket options.',
        { schema: stored.schema, factor: significant(2 ** (2 ** -(stored.schema ?? 0))) }
      ),
    stored.kind === 'native' && !isExponential && t('buckets.custom', 'Native histogram with custom bounds.'),
    divided.length > 0 &&
      stored.kind === 'native' &&
      t('buckets.add-native', 'Add {{bounds}}: no further series.', { bounds }),
    divided.length > 0 &&
      stored.kind === 'classic' &&
      t('buckets.add', 'Add {{bounds}}: {{added}} series more than the {{series}} of today.', {
        bounds,
        added: seriesAdded,
        series,
      }),
    missingAbove !== null &&
      t('buckets.missing-above', 'A bound above {{bound}} is missing; how far above is unknown.', {
        bound: familyValueText(Number.isFinite(missingAbove) ? missingAbove : 0, unit),
      }),
    divided.length === 0 && missingAbove === null && !isExponential && t('buckets.enough', 'No bound is missing.'),
    (divided.length > 0 || missingAbove !== null) && optionText(known),
    isSpread &&
      t(
        'buckets.spread',
        '* The two values next to the percentile are in different buckets: more observations narrow this interval.'
      ),
  ];
  return sentences.filter((sentence) => typeof sentence === 'string').join(' ');
}

/** The option that sets the bounds, or that there is none, or that this is not known. */
function optionText(known: AdvisedHistogram['known']): string {
  const name = known?.family.name ?? '';
  const options = known?.system.bucket_options ?? null;
  const option = optionOf(options ?? [], name);
  if (option) {
    return t('buckets.set-by', 'Set by {{option}}.', { option: option.name });
  }
  return options === null || known?.system.bucket_options_unknown.includes(name)
    ? t('buckets.option-unknown', 'It is not known whether the server has an option for it.')
    : t('buckets.option-none', 'The server has no option for it.');
}

/** The labels that distinguish a group from the others. */
function labelsText({ labels }: GroupAdvice, groups: readonly GroupAdvice[]): string {
  return Object.entries(labels)
    .filter(([label, value]) => groups.some((other) => other.labels[label] !== value))
    .map(([label, value]) => `${label}="${value}"`)
    .join(' ');
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

const getStyles = (theme: GrafanaTheme2) => ({
  family: css({
    borderTop: `1px solid ${theme.colors.border.weak}`,
    paddingTop: theme.spacing(1.5),
    marginTop: theme.spacing(1.5),
    minWidth: 0,
  }),
  title: css({ ...theme.typography.h6, margin: 0, overflowWrap: 'anywhere' }),
  help: css({ ...theme.typography.bodySmall, color: theme.colors.text.secondary, margin: 0 }),
  labels: css({ ...theme.typography.bodySmall, margin: 0, overflowWrap: 'anywhere' }),
  group: css({ display: 'flex', flexWrap: 'wrap', gap: theme.spacing(1, 3), alignItems: 'center', minWidth: 0 }),
  plot: css({ flex: '1 1 480px', minWidth: 0 }),
  table: css({
    ...theme.typography.bodySmall,
    fontVariantNumeric: 'tabular-nums',
    flex: '0 0 330px',
    'th, td': { padding: theme.spacing(0.25, 1), textAlign: 'right', fontWeight: 'normal' },
    'thead th': { color: theme.colors.text.secondary },
    'th:first-of-type': { textAlign: 'left' },
  }),
  proposal: css({ ...theme.typography.bodySmall, margin: theme.spacing(0.5, 0, 0) }),
});
