import { closedLoop } from '../../../core/run/load.ts';
import { objectiveResult } from '../../../core/objectives/verdict.ts';
import type { Objective } from '../../../core/run/objectives.ts';
import type {
  DistributionResult,
  MeasureResult,
  Percentile,
  ResultFile,
  ScalarResult,
} from '../../../core/run/result.ts';
import type { Provenance } from '../../../core/run/provenance.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { PERCENTILE_NAMES } from '../../../core/stats/percentiles.ts';
import { addRun } from '../../store/changes/add-run.ts';
import { addedResult, addedRun } from '../../store/fixtures/added-run.ts';
import { examplePlan } from '../../store/fixtures/example-run.ts';
import type { RunStore } from '../../store/run-store.ts';

/** A sweep of a server that serves `capacity` requests at once and queues the others. */
export interface GivenSweep {
  /** Also the beginning of the runs' ids. */
  readonly name: string;
  /** Null: the runs are of no group. */
  readonly group: string | null;
  readonly scenario?: string;
  readonly system?: string;
  readonly version?: string;
  readonly model?: string;
  readonly loads: readonly number[];
  readonly capacity: number;
  /** Seconds between two tokens of a lone request. */
  readonly itl?: number;
  readonly repeats?: number;
  /** GPUs that the servers' metrics report; null: none is reported. */
  readonly gpus?: number | null;
  /** As the user stated it; null: not stated. */
  readonly statedGpus?: number | null;
  /** Largest p99 of the time to first token in seconds; null: no objective. */
  readonly ttftObjective?: number | null;
  /** Day of the year 2026, from 0. */
  readonly day?: number;
}

const OUTPUT_TOKENS = 128;
const NOTHING_KNOWN: Provenance = {
  ...{ servers: [], gpus: [], source_code: null, ci: null, server_image: null, machine: null, metadata: {} },
  ...{ gpu_price: null, gpu_count: null },
};

/** Stores the runs of a sweep as an importer would, with figures that follow from its options. */
export async function storeSweep(store: RunStore, given: GivenSweep): Promise<void> {
  const { loads, repeats = 1 } = given;
  for (const [step, load] of loads.entries()) {
    for (let repeat = 0; repeat < repeats; repeat++) await storeStep(store, given, { step, load, repeat });
  }
}

interface Place {
  readonly step: number;
  readonly load: number;
  readonly repeat: number;
}

async function storeStep(store: RunStore, given: GivenSweep, { step, load, repeat }: Place): Promise<void> {
  const { name, group, scenario = name, system = 'vllm', version = '0.11.0', model = 'llama-3-8b', day = 0 } = given;
  const { gpus = null, statedGpus = null, ttftObjective = null, repeats = 1 } = given;
  const runId = `${name}-${load}-${repeat}`;
  const minutes = (step + repeat * given.loads.length) * 2;
  const start = new Date(Date.UTC(2026, 0, 1 + day, 10, minutes)).toISOString();
  const { run } = addedRun(runId, {}, 0);
  const added: RunFile = {
    ...run,
    ...{ scenario, start, end: new Date(Date.parse(start) + 60_000).toISOString(), group_id: group },
    ...{ step: group === null ? null : step, repeat: group === null || repeats === 1 ? null : repeat },
    comparison_key: { ...examplePlan().comparison_key, model, load: closedLoop(load) },
    target: { ...run.target, system, system_version: version },
    provenance: statedGpus === null ? null : { ...NOTHING_KNOWN, gpu_count: statedGpus },
    source: run.source && { ...run.source, sha256: Buffer.from(runId).toString('hex').padEnd(64, '0').slice(0, 64) },
  };
  const measures = measuresAt(given, load, repeat);
  const slos: Objective[] =
    ttftObjective === null
      ? []
      : [{ measure: 'time_to_first_token', stat: 'p99', comparison: '<=', limit: ttftObjective, unit: 'seconds' }];
  const result: ResultFile = {
    ...addedResult(added, measures),
    requests: { ok: 40 * load, error: 0, timeout: 0, cancelled: 0 },
    slos: slos.map((slo) => objectiveResult(slo, measures)),
    servers: gpus === null ? null : serversWith(gpus),
  };
  await addRun(store, { run: added, records: null, result });
}

function measuresAt({ capacity, itl = 0.01 }: GivenSweep, load: number, repeat: number): MeasureResult[] {
  const noise = 1 + 0.02 * Math.sin(load * 1.7 + repeat * 2.9);
  const served = load / (1 + (load / capacity) ** 3) ** (1 / 3);
  const interToken = itl * (1 + 0.8 * (served / capacity)) * noise;
  const service = interToken * OUTPUT_TOKENS;
  const requests = served / service;
  // Little's law: who is not served waits.
  const waiting = (load - served) / requests;
  const firstToken = 0.04 * noise + waiting;
  const good = waiting > 1 ? requests * 0.3 : requests * 0.99;
  return [
    scalar('request_throughput', 'requests_per_second', requests),
    scalar('output_token_throughput', 'tokens_per_second', requests * OUTPUT_TOKENS),
    scalar('total_token_throughput', 'tokens_per_second', requests * OUTPUT_TOKENS * 5),
    scalar('goodput', 'requests_per_second', good),
    scalar('good_request_ratio', 'ratio', good / requests),
    scalar('error_ratio', 'ratio', 0),
    distribution('time_to_first_token', firstToken),
    distribution('inter_token_latency', interToken),
    distribution('request_latency', firstToken + service),
  ];
}

function distribution(measure: string, p50: number): DistributionResult {
  const at = (q: number): Percentile => {
    const value = p50 * (0.7 + 0.6 * q + (q > 0.9 ? 6 * (q - 0.9) : 0));
    return { value, ci95: [value * 0.98, value * 1.02], bounds: null };
  };
  return {
    ...{ measure, unit: 'seconds', definition: 'd', origin: 'client', population: 'ok', clock: 'sent' },
    ...{ kind: 'distribution', n: 500, effective_n: 300, mean: p50, std: p50 / 10, min: p50 / 2, max: p50 * 3 },
    percentiles: Object.fromEntries(
      PERCENTILE_NAMES.map((name) => [name, at(Number(name.slice(1).replace('_', '.')) / 100)]),
    ) as DistributionResult['percentiles'],
  };
}

function scalar(measure: string, unit: ScalarResult['unit'], value: number): ScalarResult {
  return {
    ...{ measure, unit, definition: 'd', origin: 'client', population: 'ok', clock: 'sent' },
    ...{ kind: 'scalar', value },
  };
}

function serversWith(gpus: number): ResultFile['servers'] {
  return {
    ...{ exact: true, why: null, requests: null, targets: [] },
    gpu_energy: {
      ...{ joules: 1000, watts: 100, idle_watts: null, gpus, source: 'energy_counter', resolution_seconds: 1 },
      by_gpu: [],
    },
    collector: { interval_seconds: 1, cpu_seconds: null, cpu_share: null },
  };
}
