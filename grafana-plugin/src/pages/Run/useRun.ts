import { useCallback } from 'react';
import { usePage } from '../../app/page-context.ts';
import { type Loaded, useLoaded } from '../../components/useLoaded.ts';
import type { RunAnswer } from '../../exporter-api/types.ts';

/** The run from the exporter; not loaded where there is none. */
export function useRun(runId: string): Loaded<RunAnswer> {
  const { exporter, time } = usePage();
  const load = useCallback(
    (signal: AbortSignal) => {
      if (exporter === null) {
        throw new Error('no exporter');
      }
      return exporter.run(runId, signal);
    },
    // A new time object means that the page was refreshed.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [exporter, runId, time]
  );
  return useLoaded(exporter === null ? null : load);
}
