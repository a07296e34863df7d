import type { ExporterApi } from '../exporter-api/exporter-api.ts';
import type { StoredSweep, SweepsResponse } from '../../../core/api/sweeps.ts';
import { queryPrometheus } from '../prometheus/query-prometheus.ts';
import { sweepPage, sweepQueries, sweepsOfSeries, sweepWithRun } from './prometheus-sweeps.ts';

/** Where sweeps are read: the exporter, or Prometheus without an exporter. */
export interface SweepReader {
  readonly kind: 'exporter' | 'prometheus';
  /** All sweeps, the newest first. */
  list(signal: AbortSignal): Promise<SweepsResponse>;
  /** The values of each load of a sweep. */
  read(sweepId: string, signal: AbortSignal): Promise<StoredSweep>;
}

/** The exporter's limit of one response. */
const MAX_SWEEPS = 1000;

/** The exporter forms the sweeps of the runs that it stores. */
export function exporterSweeps(api: ExporterApi): SweepReader {
  return {
    kind: 'exporter',
    list: (signal) => api.sweeps({ limit: MAX_SWEEPS }, signal),
    read: (sweepId, signal) => api.sweep(sweepId, signal),
  };
}

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
