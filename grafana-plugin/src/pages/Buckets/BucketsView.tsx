import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { Combobox, EmptyState, LinkButton, LoadingPlaceholder, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { usePage } from '../../app/page-context.ts';
import { useAddress } from '../../app/useAddress.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Named } from '../../components/Named.tsx';
import { useLoaded } from '../../components/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants/routes.ts';
import { queryPrometheus } from '../../prometheus/query-prometheus.ts';
import { type ScrapedServer, serversQuery } from './bucket-queries.ts';
import { ServerBucketsView } from './ServerBucketsView.tsx';
import { SYSTEMS } from './server-catalog.ts';

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
  const load = useCallback(async () => {
    const query = [serversQuery(SYSTEMS)];
    const [start, end] = await Promise.all([
      queryPrometheus(prometheus, query, { from: time.from, to: time.from }),
      queryPrometheus(prometheus, query, time),
    ]);
    return scrapedServers(start, end);
  }, [prometheus, time]);
  const { data: servers, error, reload } = useLoaded(load);
  if (error) {
    return <LoadProblem title={t('buckets.problem', 'The Prometheus query failed')} error={error} onRetry={reload} />;
  }
  if (!servers) {
    return <LoadingPlaceholder text={t('buckets.loading', 'Querying Prometheus …')} />;
  }
  const wanted = address.one('server');
  const chosen = servers.find((server) => keyOf(server) === wanted) ?? (wanted === null ? servers[0] : undefined);
  return servers.length === 0 ? (
    <EmptyState
      variant="not-found"
      message={t(
        'buckets.none',
        'Prometheus scrapes no histogram of a known inference server at the end of this time range'
      )}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('buckets.how', 'How to scrape servers')}</LinkButton>}
    />
  ) : (
    <div className={styles.page}>
      <Named label={t('buckets.server', 'Server')}>
        {(named) => (
          <Combobox
            options={onePerInstance(servers, chosen).map((server) => ({
              value: keyOf(server),
              label: server.instance,
              description: t('buckets.job', 'job {{job}}', { job: server.job }),
            }))}
            value={chosen ? keyOf(chosen) : null}
            onChange={({ value }) => address.set({ server: value })}
            placeholder={t('buckets.select', 'Select a server')}
            width={48}
            aria-labelledby={named}
          />
        )}
      </Named>
      {chosen ? (
        <ServerBucketsView key={keyOf(chosen)} prometheus={prometheus} server={chosen} />
      ) : (
        <EmptyState
          variant="not-found"
          message={t('buckets.gone', 'Prometheus does not scrape this server at the end of this time range')}
        />
      )}
    </div>
  );
}

/** The servers at the end of the time range, first those that were scraped at its start too: their counts are known. */
function scrapedServers(start: readonly Labeled[], end: readonly Labeled[]): ScrapedServer[] {
  const known = new Set(start.map((series) => keyOf(serverOf(series))));
  const isNew = (server: ScrapedServer) => Number(!known.has(keyOf(server)));
  return end
    .map(serverOf)
    .sort((a, b) => isNew(a) - isNew(b) || a.instance.localeCompare(b.instance) || a.job.localeCompare(b.job));
}

interface Labeled {
  labels: Record<string, string>;
}

function serverOf({ labels }: Labeled): ScrapedServer {
  return { job: labels['job'] ?? '', instance: labels['instance'] ?? '' };
}

/** A server that several jobs scrape is one server: the chosen job, else the first. */
function onePerInstance(servers: readonly ScrapedServer[], chosen: ScrapedServer | undefined): ScrapedServer[] {
  const all = chosen ? [chosen, ...servers] : servers;
  const shown = new Set(new Map([...all].reverse().map((server) => [server.instance, server])).values());
  return servers.filter((server) => shown.has(server));
}

function keyOf({ job, instance }: ScrapedServer): string {
  return `${job}/${instance}`;
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
