import type { ClientHealth } from '../../../core/run/result.ts';
import { highestRate, slotsOf, type LoadPlan, type StagePlan } from '../schedule/load-plan.ts';
import { shareOf, type Share } from './share.ts';

/**
 * The load that uses half a core in one thread, so that it is not late: this many concurrent streams at 50 chunks a
 * second each (a chunk costs about 10 µs, metrics and files included), or this many new requests per second.
 */
const STREAMS_PER_WORKER = 1024;
const REQUESTS_PER_SECOND_PER_WORKER = 1500;
/** Assumed duration of an output token, for estimating concurrent streams from a rate. */
const SECONDS_PER_TOKEN = 0.02;

export interface ChosenWorkers {
  readonly workers: number;
  /** One line for the user; null when there is nothing to report. */
  readonly line: string | null;
}

/**
 * Number of workers for the loads of a run's phases on one machine. `requested` null: as many as the largest load
 * requires, but one core is left for the rest. Every worker has at least one slot of each shared limit. `outputTokens`:
 * of each response.
 */
export function chooseWorkers(
  requested: number | null,
  loads: readonly LoadPlan[],
  outputTokens: number,
  cores: number,
  shard: Share,
): ChosenWorkers {
  const most = Math.max(1, Math.min(...loads.map((load) => shareOf(slotsOf(load), shard))));
  if (requested !== null) {
    const workers = Math.min(requested, most);
    const line =
      workers < requested ? `workers: ${workers} of ${requested} requested, one for each slot of the load` : null;
    return { workers, line };
  }
  const needed = Math.max(...loads.map((load) => neededBy(load, outputTokens, shard)));
  const workers = Math.min(needed, most, Math.max(1, cores - 1));
  if (workers === 1) return { workers, line: null };
  return { workers, line: `workers: ${workers}, because the load is more than one thread can read in time` };
}

function neededBy({ concurrency, arrivals }: LoadPlan, outputTokens: number, share: Share): number {
  if (arrivals?.kind === 'stages')
    return Math.max(...arrivals.stages.map((stage) => neededByStage(stage, outputTokens, share)));
  const requestRate = arrivals?.kind === 'rate' ? arrivals.requestRate : null;
  const guessed = requestRate === null ? Infinity : guessedStreams(requestRate, outputTokens);
  // The number of concurrent streams of a trace without a limit is not known.
  const streams = Math.min(concurrency ?? (requestRate === null ? 1 : Infinity), guessed);
  return workersFor(streams, requestRate ?? 0, share);
}

function neededByStage(stage: StagePlan, outputTokens: number, share: Share): number {
  if (stage.kind === 'concurrency') return workersFor(stage.concurrency, 0, share);
  const rate = highestRate(stage);
  return workersFor(guessedStreams(rate, outputTokens), rate, share);
}

const guessedStreams = (requestRate: number, outputTokens: number): number =>
  requestRate * outputTokens * SECONDS_PER_TOKEN;

function workersFor(streams: number, requestRate: number, { parts }: Share): number {
  const largest = Math.max(streams / STREAMS_PER_WORKER, requestRate / REQUESTS_PER_SECOND_PER_WORKER);
  return Math.max(1, Math.ceil(largest / parts));
}

/**
 * A client that computed for a smaller share of its cores' time was waiting for the CPU: more workers would wait too.
 */
const BUSY_SHARE = 0.5;

/** The resources that the client had. */
export interface ClientResources {
  readonly workers: number;
  readonly cores: number;
  /** Length of the measure phase; null when it was not reached. */
  readonly seconds: number | null;
}

/** The health of a client, with a remedy when it was too slow. */
export function withRemedy(health: ClientHealth, resources: ClientResources): ClientHealth {
  if (health.verdict !== 'saturated' || health.why === null) return health;
  return { ...health, why: `${health.why}: ${remedy(health, resources)}` };
}

/**
 * More workers when their own computing took the time, as long as there are cores for them; one is left for the rest.
 */
function remedy({ cpu_seconds: cpu }: ClientHealth, { workers, cores, seconds }: ClientResources): string {
  const used = cpu === null || seconds === null || seconds <= 0 ? null : cpu / seconds;
  if (used === null) return 'its CPU time is not known: check what else runs on its machine, or reduce the load';
  if (used < BUSY_SHARE * workers) {
    return `it used only ${Math.round(used * 100)} % of a core, so other programs on this machine kept it waiting: stop them, or use another machine`;
  }
  if (workers < cores - 1) return `use --workers ${Math.min(workers * 2, cores - 1)}`;
  const many = cores === 1 ? 'one core' : `${cores} cores`;
  return `${workers === 1 ? 'one worker is' : `${workers} workers are`} the limit of this machine's ${many}: use a larger machine, or several with --shard`;
}
