import type { ExporterApi } from '../exporter-api/exporter-api.ts';
import type { StoredSweep, SweepsResponse } from '../../../core/api/sweeps.ts';

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
