import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Combobox, EmptyState, LinkButton, LoadingPlaceholder, Stack, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { usePage } from '../../hooks/page-context.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { historyDashboardUrl } from '../../components/dashboard-link.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Named } from '../../components/Named.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { ListedScenario } from '../../../../core/api/scenarios.ts';
import { ScenarioTrends } from './ScenarioTrends.tsx';
import { t } from '../../text.ts';

/** The exporter's limits of one response. */
const MAX_SCENARIOS = 1000;

/** The history of a scenario: the values of its runs, what is normal, and what was decided. */
export default function TrendsView() {
  const { exporter } = usePage();
  if (exporter === null) {
    return (
      <EmptyState
        variant="call-to-action"
        message={t('trends.no-exporter', 'Trends require the data source "llmbench runs"')}
        button={
          <Stack direction="row" gap={1} justifyContent="center">
            <LinkButton href={pageUrl(ROUTES.setup)}>{t('trends.to-setup', 'Set up')}</LinkButton>
            <HistoryButton />
          </Stack>
        }
      >
        {t(
          'trends.no-exporter-why',
          'The exporter keeps the exact values of every run; Prometheus has the verdicts only: see the dashboard "LLM benchmark history".'
        )}
      </EmptyState>
    );
  }
  return <Trends exporter={exporter} />;
}

function Trends({ exporter }: { exporter: ExporterApi }) {
  const styles = useStyles2(getStyles);
  const address = useAddress();
  const load = useCallback((signal: AbortSignal) => exporter.scenarios({ limit: MAX_SCENARIOS }, signal), [exporter]);
  const { data, error, loading, reload } = useLoaded(load);
  const scenarios = data?.scenarios ?? [];
  const chosen = address.one('scenario') ?? scenarios[0]?.scenario ?? null;
  return (
    <div className={styles.page}>
      {error && (
        <LoadProblem title={t('trends.problem', 'The scenarios could not be loaded')} error={error} onRetry={reload}>
          <HistoryButton />
        </LoadProblem>
      )}
      {loading && !data && <LoadingPlaceholder text={t('trends.loading', 'Loading the scenarios …')} />}
      {data && scenarios.length === 0 && (
        <EmptyState variant="call-to-action" message={t('trends.none', 'No scenarios yet')}>
          {t(
            'trends.none-how',
            'Runs with the same name of --scenario form a history. Start one with: llmbench run --scenario nightly --url http://localhost:8000 --model … --request-count 500'
          )}
        </EmptyState>
      )}
      {scenarios.length > 0 && (
        <Named label={t('trends.scenario', 'Scenario')}>
          {(named) => (
            <Combobox
              options={scenarios.map((each) => ({
                value: each.scenario,
                label: each.scenario,
                description: description(each),
              }))}
              value={chosen}
              onChange={({ value }) => address.set({ scenario: value, picked: null, places: null })}
              width={48}
              aria-labelledby={named}
            />
          )}
        </Named>
      )}
      {chosen !== null && !error && <ScenarioTrends key={chosen} exporter={exporter} scenario={chosen} />}
    </div>
  );
}

/** Prometheus has the verdicts and the last results of scenarios, also while the exporter is down. */
function HistoryButton() {
  const { prometheus } = usePage();
  return prometheus === null ? null : (
    <LinkButton variant="secondary" size="sm" icon="apps" href={historyDashboardUrl(prometheus)}>
      {t('trends.history-dashboard', 'Open the history dashboard')}
    </LinkButton>
  );
}

function description({ runs, verdict, state, baseline }: ListedScenario): string {
  return [
    runs === 1
      ? t('trends.runs-one', '1 run')
      : t('trends.runs', '{{count}} runs', { count: runs.toLocaleString('en-US') }),
    baseline.accepted === 0
      ? t('trends.without-baseline', 'no baseline')
      : t('trends.with-baseline', 'baseline {{count}}', { count: baseline.accepted }),
    // While a regression is open, or has just ended, that says more than the newest verdict.
    ...(verdict === null ? [] : [state === 'regressed' || state === 'recovered' ? state : verdict.verdict]),
  ].join(' · ');
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
});
