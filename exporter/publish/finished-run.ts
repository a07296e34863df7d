import type { FamilyInput, SampleInput } from '../../core/exposition/index.ts';
import { objectiveText } from '../../core/objectives/grammar.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import type { ResultFile } from '../../core/run/result.ts';
import { datasetText } from '../../core/run/run-dataset.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { ServersFile } from '../../core/run/servers-file.ts';
import type { Unit } from '../../core/run/statistic.ts';
import { readFinishedRunFile, readResultFile } from '../store/sealed/read-run-files.ts';
import { readServersFile } from '../store/read-servers.ts';
import { checkedFamilies } from './family.ts';
import { LatencyHistograms } from './latency-histograms.ts';
import { breakdownSamples, RESULT_UNITS, resultSamples } from './result-samples.ts';
import { RUN_INFO, runInfoLabels } from './run-info.ts';
import { serverFamilies } from './server-families.ts';
import { readTargets, RUN_TARGET_INFO, targetInfoSamples } from './target-info.ts';

/** What a finished run's directory says of it, without its records. */
export interface FinishedRun {
  readonly run: RunFile;
  readonly result: ResultFile;
  /** Null when nothing was collected. */
  readonly servers: ServersFile | null;
}

export interface FinishedRunOptions {
  /** Servers' families beyond the vocabulary of `catalog/equivalents.yaml`; `*` stands for any characters. */
  readonly republish?: readonly string[];
}

/** Beginning and end of the measure phase as wall time, milliseconds since 1970. */
export interface RunWindow {
  readonly start_ms: number;
  readonly end_ms: number;
}

export const RESULT_PREFIX = 'llmbench_result_';

/** The head of the family of results with this unit. */
export function resultFamily(unit: string): Omit<FamilyInput, 'samples'> {
  return {
    name: `${RESULT_PREFIX}${unit}`,
    help: `Exact results of finished runs with unit ${unit.replaceAll('_', ' ')}; one sample per measure and statistic.`,
    type: 'gauge',
  };
}

/**
 * The window of a run's numbers, the time that they are written with. Null when the run has no time of its own: then it
 * must never be written into Prometheus with a time.
 */
export function windowOf({ run, result }: Pick<FinishedRun, 'run' | 'result'>): RunWindow | null {
  const { start, end } = result.window;
  if (run.start === null || start === null || end === null) return null;
  return { start_ms: Date.parse(start), end_ms: Date.parse(end) };
}

/**
 * What Prometheus gets of a finished run, whatever the way: `llmbench_run_info`, the exact results and what its servers
 * said of themselves in its window. Throws when the files have what cannot be. Pure: the same files give the same families in the same order, each name once, no two
 * samples with equal labels. The histograms of its requests are `requestHistograms`.
 */
export function finishedRunFamilies(
  { run, result, servers }: FinishedRun,
  { republish = [] }: FinishedRunOptions = {},
): FamilyInput[] {
  return checkedFamilies([
    { ...RUN_INFO, samples: [{ labels: runInfoLabels(run), value: 1 }] },
    ...targetFamilies(run.run_id, result),
    ...stateFamilies(run, result),
    ...endFamilies(run),
    ...resultFamilies(run.run_id, result),
    ...breakdownFamilies(run.run_id, result),
    ...objectiveFamilies(run.run_id, result),
    ...modelObjectiveFamilies(run.run_id, result),
    ...(servers === null ? [] : serverFamilies(servers, run.run_id, republish)),
  ]);
}

/**
 * The histograms of a finished run, rebuilt from its records: the live ones under the names of results. Every family is
 * there, also one without observations. Rejects when the records cannot be read.
 */
export async function requestHistograms(
  { run_id }: Pick<RunFile, 'run_id'>,
  records: AsyncIterable<RequestRecord>,
): Promise<FamilyInput[]> {
  const histograms = new LatencyHistograms(RESULT_PREFIX, { run_id });
  for await (const record of records) {
    if (record.phase === 'measure') histograms.replay(record);
  }
  return histograms.families.map((family) => ({
    name: family.name,
    help: family.help,
    type: family.type,
    samples: family.samples(),
  }));
}

/** None when nothing was collected. */
function targetFamilies(run_id: string, { servers }: ResultFile): FamilyInput[] {
  const samples = targetInfoSamples({ run_id }, readTargets(servers));
  return samples.length === 0 ? [] : [{ ...RUN_TARGET_INFO, samples }];
}

/** What became of the run, with the labels that select it. What is unknown is the empty label. */
function stateFamilies(run: RunFile, { status, client, servers }: ResultFile): FamilyInput[] {
  const { run_id, scenario, fingerprint, comparison_key, target, dataset } = run;
  const saturated = client.verdict === 'unknown' ? null : client.verdict === 'saturated';
  const labels = {
    ...{ run_id, scenario, fingerprint, status },
    model: comparison_key.model ?? '',
    system: target.system ?? '',
    dataset: dataset === null ? '' : datasetText(dataset),
    client_saturated: knownText(saturated),
    exact: knownText(servers?.exact ?? null),
  };
  return [
    {
      name: 'llmbench_result_info',
      help: 'Outcome of a finished run and whether its results are exact and its client kept up, always 1.',
      type: 'gauge',
      samples: [{ labels, value: 1 }],
    },
    {
      name: 'llmbench_run_status',
      help: 'Status of a finished run: 1 for its status, 0 for the others.',
      type: 'gauge',
      samples: FINISHED_STATUSES.map((each) => ({ labels: { run_id, status: each }, value: Number(each === status) })),
    },
  ];
}

const FINISHED_STATUSES = ['completed', 'aborted', 'failed'] as const satisfies readonly ResultFile['status'][];

const knownText = (value: boolean | null): string => (value === null ? '' : String(value));

/** With it, the newest run of a scenario can be selected. A run without a time of its own has none. */
function endFamilies({ run_id, start, end }: RunFile): FamilyInput[] {
  if (start === null || end === null) return [];
  return [
    {
      name: 'llmbench_run_end_timestamp_seconds',
      help: 'Unix time at which the run ended.',
      type: 'gauge',
      samples: [{ labels: { run_id }, value: Date.parse(end) / 1000 }],
    },
  ];
}

/** An undecided objective is neither met nor missed, and has no series. */
function objectiveFamilies(run_id: string, { slos }: ResultFile): FamilyInput[] {
  const decided = new Map(
    slos.flatMap((slo) =>
      slo.verdict === 'undecided' ? [] : [[objectiveText(slo), Number(slo.verdict === 'met')] as const],
    ),
  );
  if (decided.size === 0) return [];
  return [
    {
      name: 'llmbench_slo_met',
      help: 'Whether the run met the objective (--slo): 1 or 0; absent while undecided.',
      type: 'gauge',
      samples: [...decided].map(([slo, value]) => ({ labels: { run_id, slo }, value })),
    },
  ];
}

/** The same of each model of several. */
function modelObjectiveFamilies(run_id: string, { breakdown = [] }: ResultFile): FamilyInput[] {
  const samples = breakdown.flatMap(({ value: model, slos = [] }) =>
    slos.flatMap((slo) =>
      slo.verdict === 'undecided'
        ? []
        : [{ labels: { run_id, model, slo: objectiveText(slo) }, value: Number(slo.verdict === 'met') }],
    ),
  );
  const help = 'Whether the requests to a model met the objective (--slo): 1 or 0; absent while undecided.';
  return samples.length === 0 ? [] : [{ name: 'llmbench_by_model_slo_met', help, type: 'gauge', samples }];
}

/** Of two numbers with equal labels (definitions that differ) the first stands. */
function resultFamilies(run_id: string, result: ResultFile): FamilyInput[] {
  return resultsByUnit(result, { run_id }).map(([unit, samples]) => ({ ...resultFamily(unit), samples }));
}

/** A family for each dimension and unit, whose label says which of the requests: `llmbench_result_by_turn_seconds`. */
function breakdownFamilies(run_id: string, result: ResultFile): FamilyInput[] {
  const families = new Map<string, { by: string; unit: Unit; samples: SampleInput[] }>();
  for (const { by, of, unit, measure, stat, value } of breakdownSamples(result)) {
    const name = `${RESULT_PREFIX}by_${by}_${unit}`;
    const family = families.get(name) ?? { by, unit, samples: [] };
    families.set(name, family);
    family.samples.push({ labels: { run_id, [by]: of, measure, stat }, value });
  }
  return [...families].map(([name, { by, unit, samples }]) => ({
    name,
    help: `Exact results of finished runs by ${by}, with unit ${unit.replaceAll('_', ' ')}.`,
    type: 'gauge',
    samples,
  }));
}

/** The exact results, each once, by unit; `labels` are on all of them. */
export function resultsByUnit(
  result: ResultFile,
  labels: Readonly<Record<string, string>>,
): readonly (readonly [unit: Unit, samples: readonly SampleInput[]])[] {
  const byUnit = new Map<Unit, Map<string, SampleInput>>(RESULT_UNITS.map((unit) => [unit, new Map()]));
  for (const { unit, measure, stat, value } of resultSamples(result)) {
    const samples = byUnit.get(unit) ?? new Map<string, SampleInput>();
    const key = `${measure} ${stat}`;
    if (!samples.has(key)) samples.set(key, { labels: { ...labels, measure, stat }, value });
    byUnit.set(unit, samples);
  }
  return [...byUnit].flatMap(([unit, samples]) => (samples.size === 0 ? [] : [[unit, [...samples.values()]] as const]));
}

/** What the folder of a run that has ended says of it. Throws `DamagedRunError`, or `SchemaVersionError`. */
export async function readFinishedRun(folder: string): Promise<FinishedRun> {
  const [run, result, servers] = await Promise.all([
    readFinishedRunFile(folder),
    readResultFile(folder),
    readServersFile(folder),
  ]);
  // An older run has a new fingerprint since it is read in its present form.
  return { run, result: { ...result, fingerprint: run.fingerprint }, servers };
}
