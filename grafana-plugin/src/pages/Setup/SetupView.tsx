import { css } from '@emotion/css';
import type { DataSourceInstanceSettings, GrafanaTheme2 } from '@grafana/data';
import { getBackendSrv, getDataSourceSrv } from '@grafana/runtime';
import { LinkButton, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { lastValueFrom } from 'rxjs';
import { Section } from '../../components/Section.tsx';
import { PROMETHEUS_ID, RUNS_DATASOURCE_ID } from '../../constants.ts';
import { ExporterCheck, PrometheusCheck } from './DataSourceCheck.tsx';
import { currentUser, usePage } from '../../hooks/page-context.ts';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { SnippetBox, snippets, type Snippet } from '../../components/SnippetBox.tsx';
import { t } from '../../text.ts';

/** Connected data sources, what they contain, and configuration snippets. */
export default function SetupView() {
  const styles = useStyles2(getStyles);
  const ofKind = (pluginId: string) => getDataSourceSrv().getList({ pluginId });
  const address = useExporterAddress();
  return (
    <div className={styles.page}>
      <Section
        title={t('setup.prometheus', 'Prometheus')}
        description={t(
          'setup.prometheus-why',
          'Source of live measurements, server metrics and run regions. Alerts are Prometheus rules.'
        )}
        actions={<AddButton pluginId={PROMETHEUS_ID} />}
      >
        <Sources sources={ofKind(PROMETHEUS_ID)} Check={PrometheusCheck} />
      </Section>
      <Section
        title={t('setup.exporter', 'llmbench runs')}
        description={t(
          'setup.exporter-why',
          'llmbench serve provides every run with its requests and exact distributions. Without it, the app shows the data in Prometheus.'
        )}
        actions={<AddButton pluginId={RUNS_DATASOURCE_ID} />}
      >
        <Sources sources={ofKind(RUNS_DATASOURCE_ID)} Check={ExporterCheck} />
      </Section>
      <Section title={t('setup.snippets', 'Configuration snippets')}>
        <div className={styles.snippets}>
          {snippets(address).map((snippet) => (
            <SnippetBox
              key={snippet.id}
              title={snippetTitle(snippet.id)}
              text={snippet.text}
              isWide={snippet.id === 'run' || snippet.id === 'scrape'}
              wraps
            />
          ))}
        </div>
      </Section>
    </div>
  );
}

interface SourcesProps {
  sources: DataSourceInstanceSettings[];
  Check: React.ComponentType<{ source: DataSourceInstanceSettings }>;
}

function Sources({ sources, Check }: SourcesProps) {
  const styles = useStyles2(getStyles);
  return sources.length === 0 ? (
    <p>{t('setup.none', 'Not configured.')}</p>
  ) : (
    <ul className={styles.list}>
      {sources.map((source) => (
        <li key={source.uid}>
          <Check source={source} />
        </li>
      ))}
    </ul>
  );
}

/** Host and port of the chosen exporter; undefined: there is none, or the user may not read the settings. */
function useExporterAddress(): string | undefined {
  const { exporterUid } = usePage();
  const load = useCallback(
    (abortSignal: AbortSignal) => dataSourceAddress(exporterUid ?? '', abortSignal),
    [exporterUid]
  );
  return useLoaded(exporterUid === null ? null : load).data;
}

/** As it is in the settings of the data source: the plugin itself only knows Grafana's proxy. */
async function dataSourceAddress(uid: string, abortSignal: AbortSignal): Promise<string | undefined> {
  const url = `/api/datasources/uid/${encodeURIComponent(uid)}`;
  const request = getBackendSrv().fetch<{ url?: string }>({ url, method: 'GET', showErrorAlert: false, abortSignal });
  const { data } = await lastValueFrom(request);
  return URL.canParse(data?.url ?? '') ? new URL(data.url ?? '').host : undefined;
}

/** Only for those who may add data sources. */
function AddButton({ pluginId }: { pluginId: string }) {
  if (!currentUser().mayAddDataSources) {
    return null;
  }
  return (
    <LinkButton size="sm" variant="secondary" icon="plus" href={`/connections/datasources/${pluginId}`}>
      {t('setup.add', 'Add data source')}
    </LinkButton>
  );
}

function snippetTitle(id: Snippet['id']): string {
  switch (id) {
    case 'run':
      return t('setup.snippet-run', 'Start the exporter and run a benchmark');
    case 'scrape':
      return t('setup.snippet-scrape', 'Prometheus: scrape configuration and rules');
    case 'data-source':
      return t('setup.snippet-data-source', 'Grafana: provision the data source');
    case 'baseline':
      return t('setup.snippet-baseline', 'Let editors change baselines in Grafana');
    case 'app':
      return t('setup.snippet-app', 'Grafana: provision the app');
  }
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
  list: css({ listStyle: 'none', display: 'grid', gap: theme.spacing(1) }),
  snippets: css({
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fit, minmax(420px, 1fr))',
    gap: theme.spacing(2),
  }),
});
