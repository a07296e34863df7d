import { queryPrometheus, type TimeSpan } from '../prometheus/query-prometheus.ts';
import { listRuns } from '../../../core/api/run-list.ts';
import { runQueries, runsOfSeries } from './prometheus-runs.ts';
import { filterValue, type RunSource } from './run-source.ts';

/** Runs that Prometheus has in the time range, read with one query for the whole list. */
export function prometheusSource(uid: string, time: TimeSpan): RunSource {
  const load = async () => {
    const series = await queryPrometheus(uid, runQueries((time.to - time.from) / 1000), time);
    return runsOfSeries(series, time.to);
  };
  let loaded: ReturnType<typeof load> | undefined;
  const all = () => (loaded ??= load());
  return {
    kind: 'prometheus',
    list: async (request) => listRuns(await all(), request),
    values: async (member) => [...new Set((await all()).map((run) => filterValue(run, member)))].sort(),
  };
}
