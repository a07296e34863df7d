import type { DistributionResult, Percentile, ResultFile, ScalarResult } from '../../../core/run/result.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import { addRun } from '../../store/changes/add-run.ts';
import { addedResult, addedRun } from '../../store/fixtures/added-run.ts';
import type { RunStore } from '../../store/run-store.ts';

/** What a stored run of a test is about. */
export interface JudgedRun {
  /** Median time to first token in seconds; every percentile scales with it. */
  readonly ttft: number;
  readonly scenario?: string;
  readonly tags?: readonly string[];
  readonly client?: ResultFile['client']['verdict'];
  /** The same median for each stage of the load; none by default. */
  readonly stages?: readonly number[];
}

/** Stores a finished run of the day, as an importer would, with the measures that gate. */
export async function storeJudgedRun(store: RunStore, runId: string, day: number, what: JudgedRun): Promise<void> {
  const { ttft, scenario = 'nightly', tags = [], client = 'ok', stages = [] } = what;
  const start = new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
  const { run } = addedRun(runId, { scenario, start, tags }, 0);
  const sha256 = Buffer.from(runId).toString('hex').padEnd(64, '0').slice(0, 64);
  const added = { ...run, source: run.source && { ...run.source, sha256 } };
  const result = addedResult(added, measuresOf(ttft));
  await addRun(store, {
    run: added,
    records: null,
    result: {
      ...result,
      client: { ...result.client, verdict: client },
      stages: stages.map((median, i) => ({
        ...{ stage: i + 1, load: { duration_seconds: 10, concurrency: 4 * (i + 1), request_rate: null } },
        ...{ start: null, end: null, window: result.window, requests: result.requests, errors: {} },
        ...{ measures: measuresOf(median), slos: [] },
      })),
    },
  });
}

const measuresOf = (ttft: number): ResultFile['measures'] => [
  distribution('time_to_first_token', ttft),
  distribution('inter_token_latency', 0.01),
  scalar('output_token_throughput', 'tokens_per_second', 1000),
  scalar('error_ratio', 'ratio', 0),
];

function distribution(measure: string, p50: number): DistributionResult {
  const at = (q: number): Percentile => ({ value: p50 * (0.5 + q), ci95: null, bounds: null });
  const percentiles = Object.fromEntries(
    PERCENTILE_NAMES.map((name) => [name, at(Number(name.slice(1).replace('_', '.')) / 100)]),
  ) as DistributionResult['percentiles'];
  return {
    ...{ measure, unit: 'seconds', definition: 'd', origin: 'client', population: 'ok', clock: 'sent' },
    ...{ kind: 'distribution', n: 500, effective_n: 300, mean: p50, std: p50 / 10, min: p50 / 2, max: p50 * 2 },
    percentiles,
  };
}

function scalar(measure: string, unit: ScalarResult['unit'], value: number): ScalarResult {
  return {
    ...{ measure, unit, definition: 'd', origin: 'client', population: 'ok', clock: 'sent' },
    ...{ kind: 'scalar', value },
  };
}
