import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import { t } from '@grafana/i18n';
import { TextLink, useStyles2 } from '@grafana/ui';
import React, { useCallback, useEffect } from 'react';
import { useLocation } from 'react-router-dom';
import { durationText } from '../../components/duration-text.ts';
import { runUrl } from '../../components/run-link.ts';
import { Section } from '../../components/Section.tsx';
import { StatusBadge } from '../../components/StatusBadge.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { RunProgress, RunSummary } from '../../../../core/api/runs.ts';
import type { RunSource } from '../../runs/run-source.ts';

const REFRESH_MS = 3000;

/** Runs in progress, refreshed every few seconds; nothing when there are none. */
export function LiveRuns({ source }: { source: RunSource }) {
  const styles = useStyles2(getStyles);
  const { search } = useLocation();
  const load = useCallback((signal: AbortSignal) => source.list({ status: ['running'], limit: 20 }, signal), [source]);
  const { data, loading, reload } = useLoaded(load);
  useEffect(() => {
    // A list from Prometheus is not polled: it changes when the page is refreshed.
    if (loading || source.kind !== 'exporter') {
      return undefined;
    }
    const timer = setTimeout(reload, REFRESH_MS);
    return () => clearTimeout(timer);
  }, [loading, reload, source]);
  if (!data || data.runs.length === 0) {
    return null;
  }
  return (
    <Section title={t('runs.live', 'Running now')}>
      <ul className={styles.list}>
        {data.runs.map((run) => (
          <li key={run.run_id} className={styles.run}>
            <StatusBadge status={run.status} />
            <TextLink href={runUrl(run, search)} inline={false}>
              {run.scenario}
            </TextLink>
            <span className={styles.facts}>{[run.model, run.system, run.load].filter(Boolean).join(' · ')}</span>
            <Progress run={run} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Progress({ run: { run_id, progress } }: { run: RunSummary }) {
  const styles = useStyles2(getStyles);
  if (progress === null) {
    return null;
  }
  const share = shareDone(progress);
  const label = t('runs.progress', 'Progress of run {{run}}', { run: run_id });
  return (
    <span className={styles.progress}>
      {share !== null && <progress max={1} value={share} aria-label={label} />}
      <span>{progressText(progress)}</span>
    </span>
  );
}

/** How much is done, by number or by time, whichever the run ends by; null when it is not known. */
export function shareDone(progress: RunProgress): number | null {
  const { requests_done: done, requests_planned: planned, elapsed_seconds: elapsed, planned_seconds: limit } = progress;
  const byNumber = planned !== null && planned > 0 ? done / planned : null;
  const byTime = limit !== null && limit > 0 && elapsed !== null ? elapsed / limit : null;
  const shares = [byNumber, byTime].filter((share): share is number => share !== null);
  return shares.length === 0 ? null : Math.min(1, Math.max(...shares));
}

function progressText(progress: RunProgress): string {
  const {
    phase,
    requests_done: done,
    requests_planned: planned,
    elapsed_seconds: elapsed,
    planned_seconds: limit,
  } = progress;
  if (phase === 'warmup') {
    return t('runs.warming-up', 'warming up');
  }
  if (phase === 'cooldown') {
    return t('runs.cooling-down', 'cooling down');
  }
  if (phase === null) {
    return t('runs.between', 'starting or ending');
  }
  const [doneText, plannedText] = [done.toLocaleString('en-US'), planned?.toLocaleString('en-US')];
  const requests =
    planned === null
      ? t('runs.requests-done', '{{done}} requests', { done: doneText })
      : t('runs.requests-done-of', '{{done}} of {{planned}} requests', { done: doneText, planned: plannedText });
  const time =
    limit === null
      ? durationText(elapsed)
      : t('runs.time-done-of', '{{elapsed}} of {{limit}}', {
          elapsed: durationText(elapsed),
          limit: durationText(limit),
        });
  return `${requests} · ${time}`;
}

const getStyles = (theme: GrafanaTheme2) => ({
  list: css({ listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: theme.spacing(1) }),
  run: css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: theme.spacing(1.5) }),
  facts: css({ color: theme.colors.text.secondary }),
  progress: css({
    marginLeft: 'auto',
    display: 'flex',
    alignItems: 'center',
    gap: theme.spacing(1),
    fontVariantNumeric: 'tabular-nums',
    // The browser's own bar has a white track in the dark theme.
    progress: {
      appearance: 'none',
      width: 160,
      height: theme.spacing(1),
      border: 'none',
      borderRadius: theme.shape.radius.pill,
      overflow: 'hidden',
      background: theme.colors.background.secondary,
      '&::-webkit-progress-bar': { background: theme.colors.background.secondary },
      '&::-webkit-progress-value': { background: theme.colors.primary.main },
      '&::-moz-progress-bar': { background: theme.colors.primary.main },
    },
  }),
});
