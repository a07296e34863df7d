import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SummaryAccumulator, SummaryOptions } from '../../../core/measures/summary.ts';
import { serverResults } from '../../../core/measures/server-results.ts';
import type { ServerTotals } from '../../../core/measures/server-results.ts';
import { judgeSlo } from '../../../core/measures/slo.ts';
import type { ChunkReading } from '../../../core/measures/chunk-reading.ts';
import { instantAt } from '../../../core/run/instant.ts';
import type { ClientHealth, ResultFile } from '../../../core/run/result.ts';
import type { ComparisonKey, RunFile } from '../../../core/run/run.ts';
import { SCHEMA_VERSIONS } from '../migrations/migrate.ts';

/** Planned number of requests in flight; null if the load has none. */
function plannedConcurrency({ load }: ComparisonKey): number | null {
  return load?.mode === 'concurrency' ? load.concurrency : null;
}

/** The options of a run's summary. */
export function summaryOptions({ comparison_key, gates }: Pick<RunFile, 'comparison_key' | 'gates'>): SummaryOptions {
  return { plannedConcurrency: plannedConcurrency(comparison_key), goodput: gates?.goodput ?? [] };
}

/** The client facts if the measuring process has ended. */
export const UNKNOWN_HEALTH: ClientHealth = {
  verdict: 'unknown',
  why: null,
  event_loop_delay_p99_seconds: null,
  event_loop_delay_max_seconds: null,
  cpu_seconds: null,
};

/** The content of result.json, and its notes, one line each. */
export async function resultOf(
  run: RunFile & { readonly status: ResultFile['status'] },
  summary: SummaryAccumulator,
  chunks: ChunkReading | null,
  client: ClientHealth,
  servers: ResultFile['servers'] = {},
  serverTotals: ServerTotals = { cachedInputRatio: null },
): Promise<{ result: ResultFile; notes: readonly string[] }> {
  const { window, requests, errors, notes, ...summed } = await summary.summarizeInSteps(chunks, nextTurn);
  const measures = [...summed.measures, ...serverResults(serverTotals)];
  const result: ResultFile = {
    schema_version: SCHEMA_VERSIONS.result,
    run_id: run.run_id,
    status: run.status,
    scenario: run.scenario,
    fingerprint: run.fingerprint,
    window: {
      start: window && instantAt(run.start, window.start_ns),
      end: window && instantAt(run.start, window.end_ns),
      seconds: window && (window.end_ns - window.start_ns) * 1e-9,
    },
    requests,
    errors,
    client,
    servers,
    measures,
    slos: (run.gates?.slos ?? []).map((slo) => judgeSlo(slo, measures)),
  };
  return { result, notes };
}
