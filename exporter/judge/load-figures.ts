import type { Stat } from '../../core/api/verdict.ts';
import { isPublished } from '../../core/measures/breakdown.ts';
import type { BreakdownResult, MeasureResult, ResultFile } from '../../core/run/result.ts';
import { orderOf, isRunId } from '../../core/run/run-id.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { PercentileName } from '../../core/stats/percentiles.ts';
import { ExpectedError, reasonOf } from '../errors/expected-error.ts';
import { readInBatches } from '../files/read-regular-file.ts';
import { readChanged } from '../store/index/read-changed.ts';
import type { RunStore } from '../store/run-store.ts';
import { readFinishedRunFile, readResultFile } from '../store/sealed/read-run-files.ts';
import { changedSinceSealed } from '../store/verify-run.ts';
import { areOfServers, directionOf } from './rules.ts';
import type { AchievedLoad, Figure, RunFigures } from './run-figures.ts';

/** The percentiles that are compared: what is usual, what is frequent, and the tail where there are values enough. */
const PERCENTILES: readonly PercentileName[] = ['p50', 'p90', 'p99'];

/** What the judge reads of a stored run. */
export function figuresOfRun(run: RunFile, result: ResultFile): RunFigures {
  const { servers } = result;
  const figures = [...wholeFigures(result), ...populationFigures(result)];
  const isOfServers = areOfServers([{ figures }]);
  return {
    ...orderOf(run),
    scenario: run.scenario,
    fingerprint: run.fingerprint,
    configuration: run.comparison_key,
    dataset: run.dataset,
    command_line: run.command_line,
    ...(run.shards === undefined ? {} : { missing_shards: run.shards.missing.length }),
    load: isOfServers ? serverLoad(result) : loadOf(result.measures),
    client: isOfServers ? 'none' : result.client.verdict,
    // More requests at the servers than the client sent are others'.
    foreign_traffic: servers?.requests?.difference == null ? null : servers.requests.difference > 0,
    figures,
  };
}

const judgedPopulations = ({ breakdown = [] }: ResultFile): readonly BreakdownResult[] => breakdown.filter(isPublished);

/** The context of a later turn is longer and mostly cached: latencies of all turns together depend on their mixture. */
function wholeFigures(result: ResultFile): Figure[] {
  const apart = new Set(
    judgedPopulations(result).flatMap(({ by, measures }) =>
      by === 'model' ? [] : measures.flatMap((each) => (each.kind === 'distribution' ? [each.measure] : [])),
    ),
  );
  return result.measures.flatMap(figuresOfMeasure).map((figure) => {
    return apart.has(figure.measure) ? { ...figure, isMixed: true } : figure;
  });
}

/** What is judged of each model: how its users are served. Its throughput follows from its share of the load. */
const OF_MODELS: ReadonlySet<string> = new Set([
  ...['time_to_first_token', 'inter_token_latency', 'request_latency', 'error_ratio', 'good_request_ratio'],
]);

function populationFigures(result: ResultFile): Figure[] {
  return judgedPopulations(result).flatMap(({ by, value, measures }) =>
    measures
      .filter(({ measure }) => by !== 'model' || OF_MODELS.has(measure))
      .flatMap(figuresOfMeasure)
      .map((figure) => ({ ...figure, breakdown: `${by}=${value}` })),
  );
}

function figuresOfMeasure(result: MeasureResult): Figure[] {
  const { measure, unit, definition, origin, population, clock } = result;
  const key = { measure, unit, definition, origin, population, clock, direction: directionOf(measure) };
  const figure = (stat: Stat, value: Figure['value'], ci95: Figure['ci95']): Figure => ({
    ...{ ...key, stat, value, ci95 },
    n: result.kind === 'scalar' ? null : result.n,
    effective_n: result.kind === 'scalar' ? null : result.effective_n,
  });
  if (result.kind === 'scalar') return [figure('value', result.value, null)];
  const { n, mean, percentiles } = result;
  // Over all requests a failed one is infinitely slow, which JSON can only write as null.
  const infinite = population === 'all' && key.direction === 'lower' && n !== null && n > 0 ? Infinity : null;
  return [
    figure('mean', mean ?? infinite, null),
    ...PERCENTILES.map((name) => {
      const { bounds, value, ci95 } = percentiles[name];
      return figure(name, bounds ?? value ?? infinite, ci95);
    }),
  ];
}

function loadOf(measures: readonly MeasureResult[]): AchievedLoad {
  const mean = (name: string): number | null => {
    const found = measures.find((each) => each.measure === name && each.population === 'ok');
    return found?.kind === 'distribution' ? found.mean : null;
  };
  const cached = measures.find(({ measure }) => measure === 'cached_input_ratio');
  return {
    input_tokens: mean('input_sequence_length'),
    output_tokens: mean('output_sequence_length'),
    cached_input_ratio: cached?.kind === 'scalar' ? cached.value : null,
    // The planned rate is in the fingerprint. Of what was achieved the result says nothing that a slower server would not
    // change as well: it stretches the window. A client that falls behind its plan is saturated.
    request_rate: null,
  };
}

/** The load that servers had: each of the replicas, so that one can be compared with many. */
function serverLoad({ measures, servers }: ResultFile): AchievedLoad {
  const scalar = (name: string): number | null => {
    const found = measures.find(({ measure }) => measure === name);
    return found?.kind === 'scalar' ? found.value : null;
  };
  const rate = scalar('request_throughput');
  const replicas = servers?.targets.filter(({ scrapes }) => scrapes > 0).length ?? 0;
  return {
    ...loadOf(measures),
    cached_input_ratio: scalar('server_cached_input_ratio'),
    request_rate: rate === null || replicas === 0 ? null : rate / replicas,
  };
}

/** A run has some 15 kB of figures in memory. */
const MAX_CACHED = 3000;

export interface LoadedFigures {
  /** In the order of the ids. */
  readonly runs: readonly RunFigures[];
  /** Runs that are gone or cannot be read, with the reason. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** Reads the figures of finished runs. */
export type LoadFigures = (runIds: readonly string[]) => Promise<LoadedFigures>;

/** Reads the figures of stored runs, all of which are required. Throws an `ExpectedError` ('damaged'). */
export async function readFigures(load: LoadFigures, runIds: readonly string[]): Promise<readonly RunFigures[]> {
  const { runs, unreadable } = await load(runIds);
  for (const [id, reason] of unreadable) throw new ExpectedError('damaged', `${id} cannot be read: ${reason}`);
  return runs;
}

/** From the files of a store. `stage`: of runs with stages, the number of the one that is meant. */
export function storedFigures(store: RunStore, stage: number | null = null): LoadFigures {
  return (runIds) => readAll(store, runIds, stage);
}

/** The same for a long-lived process: a run is read again only when its files have changed. */
export function cachedFigures(store: RunStore): LoadFigures {
  // What could not be read may be readable now, without a change of the files.
  const read = readChanged(store, MAX_CACHED, {
    read: (id) => figuresOf(store, id, null),
    isKept: (figures) => typeof figures !== 'string',
  });
  return async (runIds) => {
    const found = await read(runIds);
    return sorted(runIds.map((id) => [id, found.get(id) ?? NO_RUN_ID]));
  };
}

const NO_RUN_ID = 'it is not a run id';

async function readAll(store: RunStore, runIds: readonly string[], stage: number | null): Promise<LoadedFigures> {
  return sorted(await readInBatches(runIds, async (id) => [id, await figuresOf(store, id, stage)] as const));
}

function sorted(read: readonly (readonly [string, RunFigures | string])[]): LoadedFigures {
  return {
    runs: read.flatMap(([, result]) => (typeof result === 'string' ? [] : [result])),
    unreadable: new Map(read.flatMap(([id, result]) => (typeof result === 'string' ? [[id, result] as const] : []))),
  };
}

async function figuresOf(store: RunStore, runId: string, stage: number | null): Promise<RunFigures | string> {
  if (!isRunId(runId)) return NO_RUN_ID;
  const folder = store.endedPathOf(runId);
  try {
    return await readFrom(folder, stage);
  } catch (error) {
    // A run that waited for its last scrape may have been moved to its place in between.
    return folder === store.pathOf(runId) ? reasonOf(error) : readFrom(store.pathOf(runId), stage).catch(reasonOf);
  }
}

async function readFrom(folder: string, stage: number | null): Promise<RunFigures | string> {
  const run = await readFinishedRunFile(folder);
  if (run.status === 'running') return 'it is still running';
  const whole = await readResultFile(folder);
  const changed = await changedSinceSealed(folder);
  if (changed !== null) return changed;
  const result = comparableResult(whole, stage);
  return typeof result === 'string' ? result : figuresOfRun(run, result);
}

/** Requests at different loads have no common distribution: of a run with stages one stage is compared, never the whole. */
function comparableResult(result: ResultFile, stage: number | null): ResultFile | string {
  const { stages } = result;
  if (stage === null)
    return stages.length === 0
      ? result
      : `its load has ${stages.length} stages, of which one at a time is compared: choose its number (--stage N)`;
  const chosen = stages.find((each) => each.stage === stage);
  if (chosen === undefined)
    return stages.length === 0 ? 'its load has no stages' : `it has no stage ${stage}, only 1 to ${stages.length}`;
  const { window, requests, errors, measures, slos } = chosen;
  return { ...result, window, requests, errors, measures, slos };
}
