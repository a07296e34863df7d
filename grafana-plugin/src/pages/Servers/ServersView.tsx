import { css } from '@emotion/css';
import { dateTimeFormat, dateTimeFormatTimeAgo, type GrafanaTheme2 } from '@grafana/data';
import { useReturnToPrevious } from '@grafana/runtime';
import { Badge, EmptyState, LinkButton, LoadingPlaceholder, Stack, Text, TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { useLocation } from 'react-router-dom';
import { counted, quantity } from '../../../../core/text/quantities.ts';
import { usePage } from '../../hooks/page-context.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { serverDashboardUrl, useNativeDashboards } from '../../components/dashboard-link.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { runUrl } from '../../components/run-link.ts';
import { Section } from '../../components/Section.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import { queryPrometheus } from '../../prometheus/query-prometheus.ts';
import { type ServerRow, serverQueries, type SystemServers, systemsOfSeries } from '../../prometheus/server-queries.ts';
import { t } from '../../text.ts';

/** Inference servers scraped by Prometheus, by system, with their current state. */
export default function ServersView() {
  const { prometheus } = usePage();
  return prometheus === null ? (
    <EmptyState
      variant="call-to-action"
      message={t('servers.no-prometheus', 'No Prometheus data source is configured')}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('servers.to-setup', 'Set up')}</LinkButton>}
    />
  ) : (
    <Servers prometheus={prometheus} />
  );
}

function Servers({ prometheus }: { prometheus: string }) {
  const styles = useStyles2(getStyles);
  const { time } = usePage();
  const load = useCallback(
    async () => systemsOfSeries(await queryPrometheus(prometheus, serverQueries((time.to - time.from) / 1000), time)),
    [prometheus, time]
  );
  const { data, error, reload } = useLoaded(load);
  const natives = useNativeDashboards();
  if (error) {
    return <LoadProblem title={t('servers.problem', 'The Prometheus query failed')} error={error} onRetry={reload} />;
  }
  if (!data) {
    return <LoadingPlaceholder text={t('servers.loading', 'Querying Prometheus …')} />;
  }
  return data.length === 0 ? (
    <EmptyState
      variant="not-found"
      message={t('servers.none', 'Prometheus scraped no known inference server in this time range')}
      button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('servers.how', 'How to scrape servers')}</LinkButton>}
    />
  ) : (
    <div className={styles.page}>
      {data.map((one) => (
        <System key={one.system.id} {...one} natives={natives} />
      ))}
    </div>
  );
}

function System({ system, servers, natives }: SystemServers & { natives: ReadonlySet<string> }) {
  const { prometheus, time } = usePage();
  const { pathname, search } = useLocation();
  const setReturn = useReturnToPrevious();
  const goBackHere = () => setReturn(t('servers.return', 'the servers'), `${pathname}${search}`);
  const up = servers.filter((server) => server.up).length;
  const link = (server?: ServerRow) =>
    serverDashboardUrl(server?.worker?.id ?? system.id, {
      time,
      prometheus,
      natives,
      ...(server && { job: server.jobs[0] ?? '', instance: server.instance }),
    }) ?? '';
  return (
    <Section
      title={system.title}
      description={t('servers.up', '{{up}} of {{count}} up', { up, count: servers.length })}
      actions={
        <LinkButton size="sm" variant="secondary" icon="apps" href={link()} onClick={goBackHere}>
          {t('servers.dashboard', 'Dashboard')}
        </LinkButton>
      }
    >
      <DataTable
        label={t('servers.table', '{{system}} servers', { system: system.title })}
        columns={columns(link, search)}
        rows={servers}
        rowKey={({ instance }) => instance}
      />
    </Section>
  );
}

function columns(link: (server: ServerRow) => string, search: string): Array<Column<ServerRow>> {
  return [
    {
      id: 'instance',
      header: t('servers.instance', 'Instance'),
      render: (server) => (
        <TextLink href={link(server)} inline={false} variant="bodySmall">
          {server.instance}
        </TextLink>
      ),
      below: {
        id: 'worker',
        header: '',
        render: ({ worker }) => worker && t('servers.worker', '{{system}} worker', { system: worker.title }),
      },
    },
    { id: 'job', header: t('servers.job', 'Job'), render: ({ jobs }) => jobs.join(', ') },
    {
      id: 'up',
      header: t('servers.state', 'State'),
      render: (server) => <State server={server} search={search} />,
    },
    number('running', t('servers.running', 'Running'), ({ running }) => counted(running)),
    number('waiting', t('servers.waiting', 'Waiting'), ({ waiting }) => counted(waiting)),
    number('kv', t('servers.kv', 'KV cache'), ({ kvCache }) => quantity(kvCache, 'ratio')),
    number('requests', t('servers.requests', 'Requests'), ({ requests }) => quantity(requests, 'requests_per_second')),
    number('tokens', t('servers.tokens', 'Output'), ({ outputTokens }) => quantity(outputTokens, 'tokens_per_second')),
  ];
}

/** Discovered servers are scraped during runs only: between them nothing is wrong. */
function State({ server: { up, lastSeenMs, run }, search }: { server: ServerRow; search: string }) {
  if (up) {
    return <Badge text={t('servers.is-up', 'up')} color="green" />;
  }
  return (
    <Stack direction="row" gap={1} alignItems="center">
      {lastSeenMs === null ? (
        <Text color="secondary">{t('servers.is-gone', 'not scraped')}</Text>
      ) : (
        <span title={dateTimeFormat(lastSeenMs)}>
          <Text color="secondary">
            {t('servers.last-seen', 'last seen {{ago}}', { ago: dateTimeFormatTimeAgo(lastSeenMs) })}
          </Text>
        </span>
      )}
      {run && (
        <span>
          {t('servers.in-run', 'in run')}{' '}
          <TextLink
            href={runUrl({ run_id: run.run_id, start: null, end: null, status: 'completed' }, search)}
            variant="bodySmall"
          >
            {run.scenario || run.run_id}
          </TextLink>
        </span>
      )}
    </Stack>
  );
}

function number(id: string, header: string, render: (server: ServerRow) => string): Column<ServerRow> {
  return { id, header, align: 'right', render };
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
