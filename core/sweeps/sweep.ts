import type { CapacityFile } from '../run/capacity.ts';
import type { Objective, ObjectiveResult, ObjectiveVerdict, GoodputLimit } from '../run/objectives.ts';
import { OUTCOMES, type RequestCounts } from '../run/record.ts';
import { oldestFirst, orderOf, type OrderedRun } from '../run/run-id.ts';
import { SWEEP_FIGURES, type RunFigure, sweepFigures, type SweepRunFigures } from './sweep-figures.ts';
import type {
  LoadWithinObjective,
  SweepStep,
  StepObjective,
  StepValue,
  Knee,
  Sweep,
  SweepSource,
  SweepIdentity,
} from './sweep-shape.ts';
import { loadNumber, type LoadNumber } from '../run/load.ts';
import { canonicalJson } from '../run/canonical-json.ts';
import type { ResultFile } from '../run/result.ts';
import { datasetText } from '../run/run-dataset.ts';
import type { RunFile } from '../run/run.ts';

/** The difference must fall by this many mean steps of x below its maximum: Kneedle's S; 1 is the authors' choice. */
const SENSITIVITY = 1;

/** A point of a curve; x ascending. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/**
 * The place of the knee of a rising curve that flattens, by Kneedle (Satopää, Albrecht, Irwin and Raghavan: Finding a
 * "Kneedle" in a Haystack, ICDCS Workshops 2011), without its smoothing: steps of a sweep are few and means of repeats.
 * Null when the points show none, as on a straight line, or when the curve still rises evenly at its end.
 */
export function kneeOf(points: readonly CurvePoint[]): number | null {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 3) return null;
  const ys = points.map(({ y }) => y);
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  if (!(last.x > first.x) || !(high > low)) return null;
  const above = points.map(({ x, y }) => (y - low) / (high - low) - (x - first.x) / (last.x - first.x));
  const fall = SENSITIVITY / (points.length - 1);
  for (let i = 1; i < above.length - 1; i++) {
    if (isPeak(above, i) && fallsBelow(above, i, at(above, i) - fall)) return i;
  }
  return null;
}

const at = (values: readonly number[], i: number): number => values[i] ?? NaN;

/** Of a plateau its end. */
function isPeak(values: readonly number[], i: number): boolean {
  return at(values, i) >= at(values, i - 1) && at(values, i) > at(values, i + 1);
}

/** Whether it falls below the threshold before it rises again. */
function fallsBelow(values: readonly number[], peak: number, threshold: number): boolean {
  for (let i = peak + 1; i < values.length && at(values, i) <= at(values, i - 1); i++) {
    if (at(values, i) < threshold) return true;
  }
  return false;
}

/** Null without objectives. `steps` by ascending load. */
export function loadWithinObjective(
  steps: readonly Pick<SweepStep, 'load' | 'objective'>[],
): LoadWithinObjective | null {
  if (steps.every(({ objective }) => objective === null)) return null;
  const fails = steps.find(({ objective }) => objective === 'not_met')?.load ?? null;
  const met = steps.filter(({ objective }) => objective === 'met').map(({ load }) => load);
  return {
    holds: met.findLast((load) => fails === null || load < fails) ?? null,
    fails,
    monotonic: fails === null || met.every((load) => load < fails),
  };
}

/** The steps by ascending load. `runs` differ in nothing but their load. */
export function sweepSteps(runs: readonly SweepRun[]): readonly SweepStep[] {
  return [...Map.groupBy(runs, ({ load }) => load.value)]
    .sort(([a], [b]) => a - b)
    .map(([load, ofStep]) => stepOf(load, ofStep));
}

function stepOf(load: number, runs: readonly SweepRun[]): SweepStep {
  const ordered = runs.toSorted(oldestFirst);
  const completed = ordered.filter(({ status }) => status === 'completed');
  const slos = objectiveCounts(completed.flatMap((run) => run.slos));
  return {
    load,
    runs: ordered.map(({ run_id, start, end, status }) => ({ run_id, start, end, status })),
    requests: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, sum(completed, outcome)])) as RequestCounts,
    values: Object.fromEntries(
      SWEEP_FIGURES.map((figure) => [figure, valueOf(completed.map(({ figures }) => figures[figure]))]),
    ) as SweepStep['values'],
    slos,
    objective: objectiveOf(slos),
  };
}

function sum(runs: readonly SweepRun[], outcome: (typeof OUTCOMES)[number]): number | null {
  const counts = runs.map(({ requests }) => requests[outcome]);
  return counts.length === 0
    ? null
    : counts.reduce((all, each) => (all === null || each === null ? null : all + each), 0);
}

function valueOf(figures: readonly (RunFigure | null)[]): StepValue | null {
  const known = figures.filter((figure) => figure !== null);
  if (known.length === 0) return null;
  return {
    mean: known.reduce((all, { value }) => all + value, 0) / known.length,
    min: Math.min(...known.map(({ low }) => low)),
    max: Math.max(...known.map(({ high }) => high)),
    n: known.length,
  };
}

function objectiveCounts(results: readonly ObjectiveResult[]): StepObjective[] {
  const nameOf = ({ measure, stat, comparison, limit }: Objective): string =>
    JSON.stringify([measure, stat, comparison, limit]);
  return [...Map.groupBy(results, nameOf).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { measure, stat, comparison, limit, unit } = first;
    const count = (verdict: ObjectiveVerdict): number => same.filter((each) => each.verdict === verdict).length;
    return [
      {
        ...{ measure, stat, comparison, limit, unit },
        ...{ met: count('met'), not_met: count('not_met'), undecided: count('undecided') },
      },
    ];
  });
}

function objectiveOf(slos: readonly StepObjective[]): ObjectiveVerdict | null {
  if (slos.length === 0) return null;
  if (slos.some(({ not_met }) => not_met > 0)) return 'not_met';
  return slos.some(({ undecided }) => undecided > 0) ? 'undecided' : 'met';
}

/** A sweep and what it was made of, which identifies it. */
interface KeyedSweep {
  readonly key: string;
  readonly sweep: Sweep;
}

/**
 * The sweeps among runs, the newest first: runs of a group with two loads or more, and runs of a scenario, of no such
 * group, with two loads or more. A group or scenario that varies anything else has a sweep for each variant.
 *
 * @param leastLoads 1: a group of repeats at one load is one as well
 */
export function sweepsOf(runs: readonly SweepRun[], leastLoads = 2): readonly KeyedSweep[] {
  const grouped = curves(runs, 'group', leastLoads, ({ group_id }) => group_id);
  const taken = new Set(grouped.flatMap(({ sweep }) => sweep.steps.flatMap((step) => step.runs.map(idOf))));
  const others = runs.filter((run) => !taken.has(run.run_id));
  const repeated = curves(others, 'scenario', leastLoads, ({ identity }) => identity.scenario);
  return [...grouped, ...repeated]
    .sort((a, b) => oldestFirst(b.oldest, a.oldest))
    .map(({ key, sweep }) => ({ key, sweep }));
}

const idOf = ({ run_id }: { readonly run_id: string }): string => run_id;

function curves(
  runs: readonly SweepRun[],
  kind: SweepSource['kind'],
  leastLoads: number,
  nameOf: (run: SweepRun) => string | null,
): (KeyedSweep & { readonly oldest: SweepRun })[] {
  const keyed = Map.groupBy(
    runs.filter((run) => nameOf(run) !== null),
    (run) => JSON.stringify([kind, nameOf(run), run.key]),
  );
  return [...keyed].flatMap(([key, same]) => {
    const [first] = same;
    const [oldest] = same.toSorted(oldestFirst);
    if (first === undefined || oldest === undefined || new Set(same.map(({ load }) => load.value)).size < leastLoads)
      return [];
    return [{ key, sweep: sweepOf(same, first, { kind, name: nameOf(first) ?? '' }), oldest }];
  });
}

function sweepOf(runs: readonly SweepRun[], first: SweepRun, source: SweepSource): Sweep {
  const steps = sweepSteps(runs);
  const counts = new Set(runs.filter(({ status }) => status === 'completed').map(({ gpus }) => gpus));
  const [gpus = null] = counts;
  return {
    source,
    ...first.identity,
    load_mode: first.load.mode,
    start: earliest(runs.map(({ start }) => start)),
    end: latest(runs.map(({ end }) => end)),
    gpus: counts.size === 1 ? gpus : null,
    goodput_limits: first.goodput_limits,
    steps,
    knee: kneeOfSteps(steps),
    within_objective: loadWithinObjective(steps),
  };
}

function kneeOfSteps(steps: readonly SweepStep[]): Knee | null {
  const figure = steps.some(({ values }) => values.output_token_throughput !== null)
    ? 'output_token_throughput'
    : 'request_throughput';
  const points = steps.flatMap(({ load, values }) => {
    const value = values[figure];
    return value === null ? [] : [{ x: load, y: value.mean }];
  });
  const place = kneeOf(points);
  const load = place === null ? undefined : points[place]?.x;
  return load === undefined ? null : { method: 'kneedle', figure, load };
}

/** Instants are RFC 3339 in UTC, so they sort as text. */
const earliest = (instants: readonly (string | null)[]): string | null => known(instants).sort()[0] ?? null;
const latest = (instants: readonly (string | null)[]): string | null => known(instants).sort().at(-1) ?? null;
const known = (instants: readonly (string | null)[]): string[] => instants.filter((instant) => instant !== null);

type Capacity = Pick<CapacityFile, 'load' | 'holds' | 'fails' | 'confirmed' | 'confidence' | 'end'>;

/**
 * The probes of a search as a sweep whose objectives are judged as the search judged them: it leaves out the first requests
 * of each probe and repeats what one probe does not decide. A search without a capacity changes nothing.
 */
export function searchedSweep<S extends Sweep>(sweep: S, capacity: Capacity): S {
  const { load: mode, holds, fails, confirmed, confidence, end } = capacity;
  if (mode !== sweep.load_mode || (holds === null && fails === null)) return sweep;
  const monotonic = end !== 'not_monotonic';
  const objectiveAt = (load: number): ObjectiveVerdict => {
    if (holds !== null && load <= holds) return 'met';
    return fails !== null && load >= fails ? 'not_met' : 'undecided';
  };
  return {
    ...sweep,
    // Above the failing load of a server that is not monotonic each load has its own verdict.
    steps: monotonic ? sweep.steps.map((step) => ({ ...step, objective: objectiveAt(step.load) })) : sweep.steps,
    within_objective: { holds, fails, monotonic, ...(confirmed ? { confidence } : {}) },
  };
}

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
