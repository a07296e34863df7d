import { useCallback } from 'react';
import { type Loaded, useLoaded } from '../../hooks/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { QuantityName } from '../../../../core/api/run-data.ts';
import { type ServerCounts, serverCounts } from './server-histograms.ts';

export const COMPARED = [
  'time_to_first_token',
  'time_per_output_token',
  'request_latency',
  'queue_time',
  'prefill_time',
] as const satisfies readonly QuantityName[];
export type Compared = (typeof COMPARED)[number];

export type CountsByQuantity = Record<Compared, ServerCounts[]>;

/** What the servers counted in the run's window, by quantity; nothing where no server was collected. */
export function useServerCounts(exporter: ExporterApi, runId: string, wanted: boolean): Loaded<CountsByQuantity> {
  const load = useCallback(
    async (signal: AbortSignal) => {
      const responses = await Promise.all(COMPARED.map((quantity) => exporter.servers(runId, [quantity], signal)));
      return Object.fromEntries(
        COMPARED.map((quantity, i) => [quantity, responses[i] ? serverCounts(responses[i]) : []])
      ) as CountsByQuantity;
    },
    [exporter, runId]
  );
  return useLoaded(wanted ? load : null);
}
