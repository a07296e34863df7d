import { loadNumber, type LoadNumber } from '../run/load.ts';
import type { GoodputLimit, ObjectiveResult } from '../run/objectives.ts';
import { canonicalJson } from '../run/canonical-json.ts';
import type { RequestCounts } from '../run/record.ts';
import type { ResultFile } from '../run/result.ts';
import { datasetText } from '../run/run-dataset.ts';
import { orderOf, type OrderedRun } from '../run/run-id.ts';
import type { RunFile } from '../run/run.ts';
import { sweepFigures, type SweepRunFigures } from './sweep-figures.ts';
import type { SweepIdentity } from './sweep-shape.ts';

/** What a sweep needs of one finished run. */
export interface SweepRun extends OrderedRun {
  readonly end: string | null;
  readonly status: ResultFile['status'];
  readonly group_id: string | null;
  readonly load: LoadNumber;
  readonly identity: SweepIdentity;
  /** Equal for runs that differ in nothing but their load, as far as is known. */
  readonly key: string;
  readonly requests: RequestCounts;
  readonly figures: SweepRunFigures;
  readonly slos: readonly ObjectiveResult[];
  readonly goodput_limits: readonly GoodputLimit[];
  /** GPUs that serve the requests, as the user stated, else those that the servers' metrics reported; null: not known. */
  readonly gpus: number | null;
}

/** Null for a run whose load is not described by one number: a trace, or an import that does not report it. */
export function sweepRun(run: RunFile, result: ResultFile): SweepRun | null {
  const load = loadNumber(run.comparison_key.load);
  if (load === null) return null;
  const identity = identityOf(run);
  return {
    ...orderOf(run),
    end: run.end,
    status: result.status,
    group_id: run.group_id,
    load,
    identity,
    key: keyOf(run, load, identity),
    requests: result.requests,
    figures: sweepFigures(result),
    slos: result.slos,
    goodput_limits: run.gates?.goodput ?? [],
    gpus: run.provenance?.gpu_count ?? result.servers?.gpu_energy?.gpus ?? null,
  };
}

function identityOf({ scenario, comparison_key: key, target, tool, dataset }: RunFile): SweepIdentity {
  return {
    scenario,
    model: key.model,
    endpoint_type: key.endpoint_type,
    system: target.system,
    system_version: target.system_version,
    origin: target.origin,
    tool: tool.name,
    tool_version: tool.version,
    // The number of different requests grows with the load in many sweeps.
    dataset: dataset && datasetText({ ...dataset, entries: null }),
  };
}

function keyOf({ comparison_key: key, dataset }: RunFile, { mode }: LoadNumber, identity: SweepIdentity): string {
  const { load, sampling, streaming, cancellation, measure_definitions } = key;
  return canonicalJson({
    ...{ identity, mode, sampling, streaming, cancellation, measure_definitions },
    file: dataset?.file?.sha256 ?? null,
    // What limits the load in another way than its number.
    limits: load && {
      concurrency: mode === 'concurrency' ? null : load.concurrency,
      prefill_concurrency: load.prefill_concurrency,
      arrival_pattern: load.arrival_pattern,
      arrival_smoothness: load.arrival_smoothness,
    },
  });
}
