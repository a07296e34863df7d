import { readInBatches } from '../../../files/read-in-batches.ts';
import type { DistributionResult, MeasureResult, ResultFile, ScalarResult } from '../../../../core/run/result.ts';
import type { ObjectiveResult } from '../../../../core/run/objectives.ts';
import type { IndexedRun } from '../../../store/index/rows.ts';
import type { RunStore } from '../../../store/run-store.ts';

/** The figures of a run that a list of runs shows, in base units; null where the result has none. */
export interface ListedFigures {
  /** The measure phase, from its first request to the end of its last. */
  readonly window_seconds: number | null;
  readonly requests: ResultFile['requests'];
  readonly request_throughput: number | null;
  readonly output_token_throughput: number | null;
  readonly time_to_first_token_seconds: LatencyFigures | null;
  readonly inter_token_latency_seconds: LatencyFigures | null;
  readonly request_latency_seconds: LatencyFigures | null;
  readonly client: ResultFile['client']['verdict'];
  /** The worst verdict of all objectives; null without objectives. */
  readonly slos: ObjectiveResult['verdict'] | null;
}

export interface LatencyFigures {
  readonly n: number | null;
  readonly p50: number | null;
  readonly p99: number | null;
}

/** A run of the list; its figures are null when result.json cannot be read. */
export interface RunWithFigures extends IndexedRun {
  readonly figures: ListedFigures | null;
}

/** Reads only the results of the listed runs. */
export async function withFigures(store: RunStore, runs: readonly IndexedRun[]): Promise<RunWithFigures[]> {
  return readInBatches(runs, async (run) => ({ ...run, figures: await figuresOf(store, run) }));
}

async function figuresOf(store: RunStore, { run_id, damage }: IndexedRun): Promise<ListedFigures | null> {
  if (damage !== null) return null;
  try {
    return runFigures(await store.readResult(run_id));
  } catch {
    // `runs show` and `runs verify` say why.
    return null;
  }
}

export function runFigures({ window, requests, measures, client, slos }: ResultFile): ListedFigures {
  return {
    window_seconds: window.seconds,
    requests,
    request_throughput: scalar(measures, 'request_throughput'),
    output_token_throughput: scalar(measures, 'output_token_throughput'),
    time_to_first_token_seconds: latency(measures, 'time_to_first_token'),
    inter_token_latency_seconds: latency(measures, 'inter_token_latency'),
    request_latency_seconds: latency(measures, 'request_latency'),
    client: client.verdict,
    slos: (['not_met', 'undecided', 'met'] as const).find((verdict) => slos.some((slo) => slo.verdict === verdict)) ?? null,
  };
}

function scalar(measures: readonly MeasureResult[], name: string): number | null {
  const found = measures.find((each): each is ScalarResult => each.kind === 'scalar' && each.measure === name);
  return found?.value ?? null;
}

/** Over ok requests, measured from sending. */
function latency(measures: readonly MeasureResult[], name: string): LatencyFigures | null {
  const found = measures.find(
    (each): each is DistributionResult =>
      each.kind === 'distribution' && each.measure === name && each.population === 'ok' && each.clock === 'sent',
  );
  if (found === undefined) return null;
  return { n: found.n, p50: found.percentiles.p50.value, p99: found.percentiles.p99.value };
}
