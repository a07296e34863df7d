import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Combobox, EmptyState, LinkButton, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { usePage } from '../../hooks/page-context.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Named } from '../../components/Named.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import { type ListedServer, listServers, onePerInstance, serverKey } from './list-servers.ts';
import { ServerBucketsView } from './ServerBucketsView.tsx';
import { t } from '../../text.ts';

/** How wide the percentiles of a server's histograms are, and which bounds narrow them. */
export default function BucketsView() {
  const { prometheus } = usePage();
  return prometheus === null ? (
    <EmptyState
      variant="call-to-action"
      message={t('buckets.no-prometheus', 'No Prometheus data source is configured')}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('buckets.to-setup', 'Set up')}</LinkButton>}
    />
  ) : (
    <Servers prometheus={prometheus} />
  );
}

function Servers({ prometheus }: { prometheus: string }) {
  const styles = useStyles2(getStyles);
  const { time } = usePage();
  const address = useAddress();
  const load = useCallback(() => listServers(prometheus, time), [prometheus, time]);
  const { data: servers, error, reload } = useLoaded(load);
  if (error) {
    return <LoadProblem title={t('buckets.problem', 'The Prometheus query failed')} error={error} onRetry={reload} />;
  }
  if (!servers) {
    return <LoadingPlaceholder text={t('buckets.loading', 'Querying Prometheus …')} />;
  }
  const wanted = address.one('server');
  const chosen = servers.find((server) => serverKey(server) === wanted) ?? (wanted === null ? servers[0] : undefined);
  return servers.length === 0 ? (
    <EmptyState
      variant="not-found"
      message={t('buckets.none', 'Prometheus scraped no histogram of a known inference server in this time range')}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('buckets.how', 'How to scrape servers')}</LinkButton>}
    />
  ) : (
    <div className={styles.page}>
      <Named label={t('buckets.server', 'Server')}>
        {(named) => (
          <Combobox
            options={onePerInstance(servers, chosen).map((server) => ({
              value: serverKey(server),
              label: server.instance,
              description: descriptionOf(server),
            }))}
            value={chosen ? serverKey(chosen) : null}
            onChange={({ value }) => address.set({ server: value })}
            placeholder={t('buckets.select', 'Select a server')}
            width={48}
            aria-labelledby={named}
          />
        )}
      </Named>
      {chosen ? (
        <ServerBucketsView key={serverKey(chosen)} prometheus={prometheus} server={chosen} />
      ) : (
        <EmptyState
          variant="not-found"
          message={t('buckets.gone', 'Prometheus did not scrape this server in this time range')}
        />
      )}
    </div>
  );
}

function descriptionOf({ job, histogramName }: ListedServer): string {
  return histogramName === null
    ? t('buckets.job', 'job {{job}}', { job })
    : t('buckets.job-stopped', 'job {{job}}, not scraped at the end of the time range', { job });
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
