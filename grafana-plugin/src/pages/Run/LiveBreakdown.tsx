import React, { useCallback } from 'react';
import { usePage } from '../../hooks/page-context.ts';
import { useLiveReload, useLoaded } from '../../hooks/useLoaded.ts';
import { liveBreakdown } from '../../runs/prometheus-breakdown.ts';
import { t } from '../../text.ts';
import { ModelTable } from './StageTable.tsx';
import { TurnTable } from './TurnTable.tsx';

/** The turns and models of a running run, from Prometheus; nothing for a run that has neither, or without Prometheus. */
export function LiveBreakdown({ runId }: { runId: string }) {
  const { prometheus } = usePage();
  const load = useCallback(() => liveBreakdown(prometheus ?? '', runId), [prometheus, runId]);
  const loaded = useLoaded(prometheus === null ? null : load);
  useLiveReload(loaded, prometheus !== null);
  const { data } = loaded;
  if (data === undefined) {
    return null;
  }
  const note = t(
    'run.live-breakdown',
    'So far, as Prometheus has scraped it: percentiles are estimates from histogram buckets, which are at most 19 % wide. Exact ones, and verdicts on objectives, are available when the run has ended.'
  );
  return (
    <>
      <TurnTable result={{ breakdown: data, measures: [] }} note={note} />
      <ModelTable result={{ breakdown: data }} note={note} />
    </>
  );
}
