import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { Alert, EmptyState, LinkButton, LoadingPlaceholder, useStyles2, useTheme2 } from '@grafana/ui';
import React, { useCallback, useMemo } from 'react';
import { usePage } from '../../hooks/page-context.ts';
import { useAddress } from '../../hooks/useAddress.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { ServerSignals } from '../../components/SignalCharts.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { pageUrl, ROUTES } from '../../constants.ts';
import { ExporterError, type ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { CompareResponse, CompareQuery } from '../../../../core/api/comparison.ts';
import { AchievedLoad } from './AchievedLoad.tsx';
import { Candidates } from './Candidates.tsx';
import { Chooser } from './Chooser.tsx';
import { ConfigurationDifferences } from './ConfigurationDifferences.tsx';
import { Distributions } from './Distributions.tsx';
import { MeasureVerdicts } from './MeasureVerdicts.tsx';
import { MovedSignals } from './MovedSignals.tsx';
import { Preflight } from './Preflight.tsx';
import { RequestsOverTime } from './RequestsOverTime.tsx';
import { Settle } from './Settle.tsx';
import { type ShownRun, shownIds, shownRuns } from './shown-runs.ts';
import { VerdictSummary } from './VerdictSummary.tsx';
import { t } from '../../text.ts';

/** Compares two sets of runs: the exporter's verdict with its evidence first, then the runs themselves. */
export default function CompareView() {
  const { exporter } = usePage();
  if (exporter === null) {
    return (
      <EmptyState
        variant="call-to-action"
        message={t('comparison.no-exporter', 'Comparing runs requires the data source "llmbench runs"')}
        button={<LinkButton href={pageUrl(ROUTES.setup)}>{t('comparison.to-setup', 'Set up')}</LinkButton>}
      >
        {t('comparison.no-exporter-why', 'The exporter stores the runs and judges them; Prometheus does not.')}
      </EmptyState>
    );
  }
  return <Compare exporter={exporter} />;
}

function Compare({ exporter }: { exporter: ExporterApi }) {
  const styles = useStyles2(getStyles);
  const theme = useTheme2();
  const request = useCompareRequest();
  const load = useCallback(
    (signal: AbortSignal) => exporter.compare(JSON.parse(request) as CompareQuery, signal),
    [exporter, request]
  );
  const { a, b, stage } = JSON.parse(request) as CompareQuery;
  const isComplete = a.length > 0 && b.length > 0;
  const { data, error, loading, reload } = useLoaded(isComplete ? load : null);
  const comparison = loading ? undefined : data;
  const loadRuns = useCallback(
    (signal: AbortSignal) => Promise.all((data ? shownIds(data) : []).map((runId) => exporter.run(runId, signal))),
    [exporter, data]
  );
  const responses = useLoaded(data ? loadRuns : null);
  const runs = useMemo(
    () => (data && responses.data && !responses.loading ? shownRuns(data, responses.data, theme) : []),
    [data, responses, theme]
  );
  return (
    <div className={styles.page}>
      <Chooser exporter={exporter} comparison={comparison} shown={comparison ? runs : []} />
      {!isComplete && (
        <>
          <Incomplete hasOne={a.length + b.length > 0} />
          {a.length + b.length === 0 && <Candidates exporter={exporter} />}
        </>
      )}
      {error && <CompareProblem error={error} onRetry={reload} />}
      {loading && <LoadingPlaceholder text={t('comparison.loading', 'Comparing the runs …')} />}
      {comparison && (
        <>
          <Verdict comparison={comparison} />
          {stage && (
            <Alert
              severity="info"
              title={t('comparison.stage', 'The verdict is on stage {{stage}} of the load', { stage })}
            >
              {t('comparison.stage-whole', 'What is below shows the whole runs.')}
            </Alert>
          )}
          {responses.error && (
            <LoadProblem
              title={t('comparison.runs-problem', 'The runs could not be loaded')}
              error={responses.error}
              onRetry={responses.reload}
            />
          )}
          {runs.length > 0 && <Runs comparison={comparison} runs={runs} exporter={exporter} />}
        </>
      )}
    </div>
  );
}

/** What the URL asks for, as text, so that it changes only with its content. */
function useCompareRequest(): string {
  const address = useAddress();
  const paired = address.one('paired') === 'true' ? 'true' : undefined;
  const across_scenarios = address.one('across_scenarios') === 'true' ? 'true' : undefined;
  const stage = address.one('stage') ?? undefined;
  const [a, b, gate, margin] = ['a', 'b', 'gate', 'margin'].map((name) => address.all(name));
  return JSON.stringify({ a, b, gate, margin, paired, across_scenarios, stage });
}

function Verdict({ comparison }: { comparison: CompareResponse }) {
  return (
    <>
      <VerdictSummary comparison={comparison} />
      <Preflight comparison={comparison} />
      <Settle comparison={comparison} />
      <MeasureVerdicts comparison={comparison} />
      {comparison.explanation && <MovedSignals explanation={comparison.explanation} />}
    </>
  );
}

interface RunsProps {
  comparison: CompareResponse;
  runs: readonly ShownRun[];
  exporter: ExporterApi;
}

function Runs({ comparison, runs, exporter }: RunsProps) {
  const styles = useStyles2(getStyles);
  const total = comparison.runs.a.length + comparison.runs.b.length;
  return (
    <>
      {runs.length < total && (
        <p className={styles.note}>
          {t('comparison.shown', 'Below are the first runs of each set, {{shown}} of {{total}}: {{marks}}.', {
            shown: runs.length,
            total,
            marks: runs.map(({ mark }) => mark).join(', '),
          })}
        </p>
      )}
      <ConfigurationDifferences runs={runs} />
      <AchievedLoad runs={runs} />
      <Distributions runs={runs} exporter={exporter} />
      <RequestsOverTime runs={runs} exporter={exporter} />
      <ServerSignals
        exporter={exporter}
        runs={runs
          .filter(({ response }) => response.has_servers && response.result !== null)
          .map(({ name, color, response }) => ({ runId: response.summary.run_id, name, color }))}
        zero="measure"
      />
    </>
  );
}

function Incomplete({ hasOne }: { hasOne: boolean }) {
  const styles = useStyles2(getStyles);
  return (
    <p className={styles.note}>
      <b>
        {hasOne
          ? t('comparison.choose-other', 'Choose the runs of the other set')
          : t('comparison.choose', 'Choose the runs of A and of B')}
      </b>
      {'. '}
      {t(
        'comparison.choose-how',
        'A is the baseline. Choose single runs, scenario:NAME or tag:TAG; a plus sign combines conditions, as in scenario:chat+last:6. Several runs of each are required for a verdict.'
      )}
    </p>
  );
}

function CompareProblem({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const status = error instanceof ExporterError ? error.status : null;
  if (status === 404 && error.message.includes('/compare does not exist')) {
    return (
      <Alert severity="error" title={t('comparison.outdated', 'This exporter cannot compare runs')}>
        {t('comparison.outdated-how', 'It is older than the plugin: update llmbench and restart llmbench serve.')}
      </Alert>
    );
  }
  // The selection is wrong, and trying again would not help.
  if (status === 400 || status === 404 || status === 422) {
    return (
      <Alert severity="error" title={t('comparison.refused', 'These runs cannot be compared')}>
        {error.message}
      </Alert>
    );
  }
  return (
    <LoadProblem title={t('comparison.problem', 'The runs could not be compared')} error={error} onRetry={onRetry} />
  );
}

const getStyles = (theme: GrafanaTheme2) => ({
  page: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(1.5), minWidth: 0 }),
  note: css({ color: theme.colors.text.secondary, margin: 0 }),
});
