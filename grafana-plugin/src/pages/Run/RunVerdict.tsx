import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback } from 'react';
import { useLocation } from 'react-router-dom';
import { verdictUrl } from '../../components/run-link.ts';
import { useLoaded } from '../../components/useLoaded.ts';
import { VerdictBadge } from '../../components/VerdictBadge.tsx';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import { ExporterError } from '../../exporter-api/exporter-error.ts';
import type { RunSummary, VerdictEntry } from '../../exporter-api/types.ts';

interface Props {
  run: RunSummary;
  exporter: ExporterApi;
}

/** The newest verdict of `llmbench check` on the run, with a link to its evidence; nothing for a run that was not judged. */
export function RunVerdict({ run: { scenario, run_id: runId }, exporter }: Props) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const load = useCallback(
    (signal: AbortSignal) => exporter.scenario(scenario ?? '', {}, signal),
    [exporter, scenario]
  );
  const { data, error } = useLoaded(scenario === null ? null : load);
  // An exporter from before scenarios were served has no verdicts.
  if (error && !(error instanceof ExporterError && error.status === 404)) {
    return <p className={styles.verdict}>{t('run.verdict-problem', 'The verdict could not be loaded.')}</p>;
  }
  const entry = verdictOn(runId, data?.verdicts ?? []);
  if (entry === undefined) {
    return null;
  }
  const { verdict, sentence } = entry;
  const url = verdictUrl(entry, search);
  return (
    <section className={styles.verdict} aria-label={t('run.verdict', 'Verdict')}>
      <VerdictBadge verdict={verdict} />
      <span>{sentence}</span>
      {url !== null && <TextLink href={url}>{t('run.compare', 'Compare with the baseline')}</TextLink>}
    </section>
  );
}

/** The newest verdict in which the run was judged, by its time. */
export function verdictOn(runId: string, verdicts: readonly VerdictEntry[]): VerdictEntry | undefined {
  return verdicts
    .filter(({ run_ids }) => run_ids.includes(runId))
    .sort((x, y) => Date.parse(x.at) - Date.parse(y.at))
    .at(-1);
}

const getStyles = (theme: GrafanaTheme2) => ({
  verdict: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1), margin: 0 }),
});
