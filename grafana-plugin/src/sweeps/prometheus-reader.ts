import { queryPrometheus } from '../prometheus/query-prometheus.ts';
import { sweepPage, sweepQueries, sweepsOfSeries, sweepWithRun } from './prometheus-sweeps.ts';
import type { SweepReader } from './sweep-reader.ts';

const HOUR_SECONDS = 3600;

/** Sweeps of the runs that Prometheus had in the last `hours`, read with one request for all of them. */
export function prometheusSweeps(uid: string, hours: number): SweepReader {
  const load = async () => {
    const to = Date.now();
    const rangeSeconds = hours * HOUR_SECONDS;
    const series = await queryPrometheus(uid, sweepQueries(rangeSeconds), { from: to - rangeSeconds * 1000, to });
    return sweepsOfSeries(series, to);
  };
  let loaded: ReturnType<typeof load> | undefined;
  const all = () =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
  return {
    kind: 'prometheus',
    list: async () => sweepPage(await all()),
    read: async (sweepId) => {
      const sweep = sweepWithRun(await all(), sweepId);
      if (sweep === null) {
        throw new Error(`Prometheus has no sweep with the run ${sweepId}.`);
      }
      return sweep;
    },
  };
}
