import { css } from '@emotion/css';
import { dateTimeFormat, type GrafanaTheme2 } from '@grafana/data';
import { Alert, EmptyState, LoadingPlaceholder, useStyles2, useTheme2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { usePage } from '../../hooks/page-context.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Section } from '../../components/Section.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { FamilyBuckets } from './FamilyBuckets.tsx';
import type { ListedServer } from './list-servers.ts';
import { loadBuckets } from './load-buckets.ts';
import { Settings } from './Settings.tsx';
import { Mark, MarkLegend } from '../../charts/MarkLegend.tsx';
import { ADVISED_QUANTILES, type AdvisedPercentile } from '../../../../core/histogram/bucket-advice.ts';
import { percentileColor } from './BucketPlot.tsx';
import { t } from '../../text.ts';

/** The histograms of one server: what to set, then each family. */
export function ServerBucketsView({ prometheus, server }: { prometheus: string; server: ListedServer }) {
  const styles = useStyles2(getStyles);
  const { time, timeZone } = usePage();
  const load = useCallback(() => loadBuckets(prometheus, server, time), [prometheus, server, time]);
  const { data, error, reload } = useLoaded(load);
  if (error) {
    return (
      <LoadProblem
        title={t('buckets.server-problem', 'The buckets of this server could not be loaded')}
        error={error}
        onRetry={reload}
      />
    );
  }
  if (!data) {
    return <LoadingPlaceholder text={t('buckets.loading-server', 'Loading the buckets …')} />;
  }
  const { families, systems, withoutObservations, settings, lastScrape } = data;
  const isEstimated = families.some(({ advice }) => advice.groups.some(({ exact }) => !exact));
  const hasBounds = families.some(({ stored }) => stored.kind === 'classic' || stored.schema === null);
  if (families.length === 0) {
    return (
      <EmptyState
        variant="not-found"
        message={t('buckets.idle', 'The histograms of this server counted nothing in this time range')}
      >
        {t('buckets.idle-why', 'Select a time range in which it served requests.')}
      </EmptyState>
    );
  }
  return (
    <div className={styles.page}>
      {lastScrape !== null && (
        <Alert
          severity="info"
          title={t('buckets.last-scrape', 'Last scrape of this server in the time range: {{time}}', {
            time: dateTimeFormat(lastScrape, { timeZone }),
          })}
        >
          {t('buckets.last-scrape-why', 'The counts end there: requests that ended later are not in them.')}
        </Alert>
      )}
      <Section
        title={
          hasBounds
            ? t('buckets.settings', 'Bounds that halve the intervals')
            : t('buckets.settings-none', 'Exponential buckets')
        }
        description={
          hasBounds
            ? t(
                'buckets.settings-why',
                'A percentile from buckets is an interval. One more bound in the middle of each bucket that holds p50, p90 or p99 halves it, wherever the values lie within the bucket.'
              )
            : t('buckets.settings-none-why', 'A percentile from buckets is an interval.')
        }
      >
        <Settings settings={settings} families={families} systems={systems} />
      </Section>
      <Section
        title={t('buckets.families', 'Histograms')}
        description={
          isEstimated
            ? t(
                'buckets.estimated',
                'The counts are differences between the samples at both ends of the time range. Families that were reset in between are estimated with increase(): their bands are the bucket of the estimate, which does not bound the percentile.'
              )
            : t('buckets.exact', 'The counts are differences between the samples at both ends of the time range.')
        }
      >
        <BucketLegend hasProposals={hasBounds} />
        {families.map((each) => (
          <FamilyBuckets key={each.advice.family} {...each} />
        ))}
        {withoutObservations.length > 0 && (
          <details className={styles.rest}>
            <summary>
              {t('buckets.without', 'Histograms without observations: {{count}}', {
                count: withoutObservations.length,
              })}
            </summary>
            {withoutObservations.join(', ')}
          </details>
        )}
      </Section>
    </div>
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
  rest: css({ ...theme.typography.bodySmall, marginTop: theme.spacing(2), overflowWrap: 'anywhere' }),
});

/** What the drawings of all families mean. */
function BucketLegend({ hasProposals }: { hasProposals: boolean }) {
  const theme = useTheme2();
  return (
    <MarkLegend label={t('buckets.legend', 'Legend')}>
      <Mark text={t('buckets.legend-count', 'observations per bucket')}>
        <rect x={2} width={12} height={12} fill={theme.colors.text.secondary} fillOpacity={0.35} />
      </Mark>
      <Mark text={t('buckets.legend-bound', 'bound')}>
        <line x1={8} x2={8} y1={0} y2={12} stroke={theme.colors.text.secondary} />
      </Mark>
      {Object.keys(ADVISED_QUANTILES).map((percentile) => (
        <Mark key={percentile} text={t('buckets.legend-interval', '{{percentile}} lies here', { percentile })}>
          <rect y={3} width={16} height={7} fill={percentileColor(percentile as AdvisedPercentile, theme)} />
        </Mark>
      ))}
      {hasProposals && (
        <Mark text={t('buckets.legend-proposed', 'bound to add')}>
          <line x1={8} x2={8} y1={0} y2={12} stroke={theme.colors.warning.text} strokeWidth={2} strokeDasharray="4 3" />
        </Mark>
      )}
    </MarkLegend>
  );
}
