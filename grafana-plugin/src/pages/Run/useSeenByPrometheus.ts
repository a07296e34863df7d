import { useCallback } from 'react';
import { usePage } from '../../app/page-context.ts';
import { timeOfRuns } from '../../components/run-link.ts';
import { useLoaded } from '../../components/useLoaded.ts';
import type { RunSummary } from '../../exporter-api/types.ts';
import { queryPrometheus } from '../../prometheus/query-prometheus.ts';

/**
 * Whether Prometheus saw requests of a finished run being counted: at least one between two of its samples. A run that is
 * shorter than a scrape, or that came from a file, is published but never seen so. Undefined until it is known; true for a
 * run that lasts, and where Prometheus could not be asked: its panels then say why.
 */
export function useSeenByPrometheus(run: RunSummary, wanted: boolean): boolean | undefined {
  const { prometheus } = usePage();
  const time = timeOfRuns([run]);
  const isOver = wanted && prometheus !== null && time !== null && time.to !== 'now';
  const [from, to] = isOver ? [time.from, Number(time.to)] : [0, 0];
  const load = useCallback(async () => {
    const counter = `llmbench_time_to_first_token_seconds_count{run_id=${JSON.stringify(run.run_id)}}`;
    const range = `[${Math.ceil((to - from) / 1000)}s]`;
    const expr = `sum(max_over_time(${counter}${range}) - min_over_time(${counter}${range}))`;
    const [counted] = await queryPrometheus(prometheus ?? '', [{ refId: 'seen', expr, instant: true }], { from, to });
    return (counted?.values.at(-1) ?? 0) > 0;
  }, [prometheus, run.run_id, from, to]);
  const { data, error } = useLoaded(isOver ? load : null);
  if (!isOver) {
    return !wanted || (prometheus !== null && time !== null);
  }
  return error ? true : data;
}
