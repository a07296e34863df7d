import type { LoadStage } from './load.ts';
import type { Clock, Unit } from './statistic.ts';
import type { PercentileName } from '../stats/percentiles.ts';
import type { ObjectiveResult } from './objectives.ts';
import type { ErrorReason, RequestCounts } from './record.ts';
import type { RunStatus } from './run.ts';

export interface Percentile {
  /** Exact, linear between order statistics (rank (n − 1)q); null when it is not available. */
  readonly value: number | null;
  /** What sampling leaves open: a 95 % interval by moving blocks; null when the sample is too small. */
  readonly ci95: readonly [low: number, high: number] | null;
  /** What buckets leave open; null when the value is exact. */
  readonly bounds: readonly [low: number, high: number] | null;
}

interface MeasureIdentity {
  readonly measure: string;
  readonly unit: Unit;
  readonly definition: string;
  readonly origin: 'client' | 'server';
  /** Statistics are over ok requests, or over all with the failed ones counted as infinitely slow. */
  readonly population: 'ok' | 'all';
  readonly clock: Clock;
}

export interface ScalarResult extends MeasureIdentity {
  readonly kind: 'scalar';
  readonly value: number | null;
}

export interface DistributionResult extends MeasureIdentity {
  readonly kind: 'distribution';
  /** Null: a summary of another tool that does not report the number of values. */
  readonly n: number | null;
  /** n as independent observations would give the same certainty; null when it is unknown. */
  readonly effective_n: number | null;
  readonly mean: number | null;
  readonly std: number | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly percentiles: Readonly<Record<PercentileName, Percentile>>;
}

export type MeasureResult = ScalarResult | DistributionResult;

/** Whether the client itself can have been what was measured. */
export interface ClientHealth {
  readonly verdict: 'ok' | 'saturated' | 'unknown';
  /** Why, in one line with its numbers; null when there is nothing to say. */
  readonly why: string | null;
  readonly event_loop_delay_p99_seconds: number | null;
  readonly event_loop_delay_max_seconds: number | null;
  readonly cpu_seconds: number | null;
}

/** A server's count of requests beside the client's, over the same kind of requests. */
export interface ServerRequests {
  /** The family that counts them. */
  readonly family: string;
  /** Which of the client's requests it counts, in words. */
  readonly population: string;
  /** Null: what it gained in the window is unknown. */
  readonly server: number | null;
  readonly client: number;
  /** How many of the client's are of the cool-down: the servers' measures include them. Absent without one. */
  readonly cool_down?: number;
  /** The same of the warm-up: an import whose tool did not read the servers between the phases. Absent without any. */
  readonly warmup?: number;
  /** Server minus client: requests of others, or the client's own that failed there and not at the server. */
  readonly difference: number | null;
}

/** A histogram of requests that has other observations than those of the run's requests, because it is exposed late. */
export interface InexactFamily {
  readonly target: string;
  readonly family: string;
  readonly observations: number;
  /** That the server counted meanwhile. */
  readonly requests: number;
}

/** Where the energy of a GPU comes from: a counter of energy, or power over time. */
export type EnergySource = 'energy_counter' | 'power';

/** What one GPU took in the window; null is what is not known. */
export interface EnergyOfGpu {
  /** Its UUID, else the target and its index there. */
  readonly gpu: string;
  readonly model: string | null;
  readonly source: EnergySource | null;
  readonly joules: number | null;
  /** Mean in the window. */
  readonly watts: number | null;
  /** Lowest before the first request. */
  readonly idle_watts: number | null;
  /** Different values of the counter, or samples of the power, in the window and next to it. */
  readonly readings: number;
  /** Longest time in the window without a reading. */
  readonly resolution_seconds: number | null;
}

/** What the GPUs on the collected pages took in the window. Sums are null unless they are known of each GPU. */
export interface GpuEnergy {
  readonly joules: number | null;
  /** Mean in the window. */
  readonly watts: number | null;
  /** Before the first request. */
  readonly idle_watts: number | null;
  readonly gpus: number;
  /** Null: not known, or not the same for all GPUs. */
  readonly source: EnergySource | null;
  /** Longest time in the window without a reading, of any GPU. */
  readonly resolution_seconds: number | null;
  /** Empty in runs of earlier versions, which did not keep it. */
  readonly by_gpu: readonly EnergyOfGpu[];
}

/** How one target was collected. */
export interface ServerTarget {
  /** The URL that was read, without user info and query. */
  readonly target: string;
  readonly system: string | null;
  /** waiting: never reached; gone: not reached at the end; the last two are not asked again. */
  readonly state: 'waiting' | 'up' | 'gone' | 'not_metrics' | 'several_servers';
  readonly scrapes: number;
  readonly failed_scrapes: number;
  /** Ticks without a scrape, because the one before was still under way or scrapes had become rarer. */
  readonly skipped_scrapes: number;
  readonly scrape_duration_seconds: { readonly p50: number | null; readonly p99: number | null };
  readonly restarts: number;
  readonly dropped_series: number;
  readonly dropped_samples: number;
  /** What a reader must know, one line each. */
  readonly notes: readonly string[];
}

/** A metrics page that a search (`k8s:`, `http-sd:`) began to find during the run, or found no more. */
export interface ServerTargetChange {
  readonly time: string;
  readonly target: string;
  readonly change: 'joined' | 'left';
}

/** The servers' side of the run in short; servers.json has the statistics of each series. */
export interface ServersResult {
  /** Whether the statistics hold the run's requests and nothing else; null: nothing says. */
  readonly exact: boolean | null;
  /** Why not, in one line. */
  readonly why: string | null;
  readonly requests: ServerRequests | null;
  /** `exact` does not hold for these families; absent if there are none. */
  readonly inexact_families?: readonly InexactFamily[];
  /** Null: no target reports it. */
  readonly gpu_energy: GpuEnergy | null;
  readonly collector: {
    readonly interval_seconds: number;
    /** Time of the client's thread that collecting took; null when another tool collected. */
    readonly cpu_seconds: number | null;
    /** Its share of the CPU time of the whole client: a lower bound, sockets and garbage collection are not in it. */
    readonly cpu_share: number | null;
  };
  readonly targets: readonly ServerTarget[];
  /** In their order, at most 1,000; absent if there were none. */
  readonly target_changes?: readonly ServerTargetChange[];
}

/** A stage of the load: the requests that were due in it, as a population of its own. */
export interface StageResult {
  /** From 1. */
  readonly stage: number;
  readonly load: LoadStage;
  /** The time in which requests that were due belong to it; nulls when it had not begun. */
  readonly start: string | null;
  readonly end: string | null;
  /** From its first request to the end of its last, which may be in a later stage; nulls without requests. */
  readonly window: ResultFile['window'];
  readonly requests: RequestCounts;
  readonly errors: ResultFile['errors'];
  readonly measures: readonly MeasureResult[];
  readonly slos: readonly ObjectiveResult[];
}

/** A population of a run's requests: those that share a value of a dimension of the load. */
export interface BreakdownKey {
  readonly by: 'turn' | 'model';
  /** The name of a model, `other` for those that are not distinguished; of turns: `first`, `later`, and classes of later ones by number: `2`, `3-4`, … `33+`. */
  readonly value: string;
}

/** The requests of a population, with the measures that are reported of each. */
export interface BreakdownResult extends BreakdownKey {
  readonly requests: RequestCounts;
  readonly measures: readonly MeasureResult[];
  /** Of a model: objectives that hold for a part of the requests too; of throughputs and counts only the whole is judged. */
  readonly slos?: readonly ObjectiveResult[];
}

/** The hit rate of prefix caches that the plan makes possible, beside what was measured; null is what is not known. */
export interface PrefixCacheResult {
  /** Only whole blocks of so many tokens are reused. */
  readonly block_tokens: number;
  /** With caches of unlimited size: of the planned prompt tokens, without the chat template. */
  readonly possible_ratio: number;
  /** Of the responses' usage. */
  readonly usage_ratio: number | null;
  /** Of the servers' own counters. */
  readonly server_ratio: number | null;
  /** When the measured one is far below: what the servers say that explains it, a line each. */
  readonly why: readonly string[];
}

/** What the servers' counters of speculative decoding gained in the measure phase, of all replicas together. */
export interface SpeculationResult {
  /** Proposals that the model verified. */
  readonly drafts: number;
  readonly draft_tokens: number;
  /** Without the token that the model itself gives after each draft. */
  readonly accepted_tokens: number;
  /** The same by position in the draft, the first one first; null when the servers do not count it. */
  readonly accepted_by_position: readonly number[] | null;
}

/** How well a run fits one quantity of the load that its plan reproduces; null: not known of one side. */
export interface LoadFit {
  readonly quantity: 'request_rate' | 'input_tokens' | 'output_tokens' | 'cached_input_ratio';
  readonly unit: 'requests_per_second' | 'tokens' | 'ratio';
  /** Means: of the recorded load, scaled as the plan is, and of the run. */
  readonly source: number | null;
  readonly achieved: number | null;
  /**
   * 0 to 1: the largest difference of the cumulative shares, of requests over time or of lengths at the bounds of the
   * servers' buckets; of a ratio the difference.
   */
  readonly distance: number | null;
}

/** The network between this machine and the API, from the TCP handshakes of the run's own connections, all phases. */
export interface NetworkResult {
  /** Host and port of the API. */
  readonly host: string;
  /** Connections that were opened. */
  readonly connections: number;
  /**
   * Round trips: the shortest is closest to the network alone, and never longer than the fastest response took to begin; the
   * median includes what delayed this machine.
   */
  readonly min_seconds: number;
  readonly p50_seconds: number;
}

/** The measure phase in slices of equal length, the first from its start. A list has one value per slice. */
export interface TimeSlices {
  /** Length of a slice. */
  readonly seconds: number;
  readonly requests: {
    /** By the time at which they were sent. */
    readonly ok: readonly number[];
    readonly failed: readonly number[];
    /** Ok ones by the time at which they ended. */
    readonly ended: readonly number[];
  };
  /** Of ok requests, by the time at which they were sent. */
  readonly measures: readonly SlicedMeasure[];
  /** Changes of the level of the medians and of the throughput; null when the load itself has stages. */
  readonly changes: readonly SliceChange[] | null;
  /** The longest part without a change, up to but without slice `to`; null when it is too short, or the load has stages. */
  readonly steady: { readonly from: number; readonly to: number } | null;
}

/** Percentiles of each slice, within 0.4 %; null where there are too few values. */
export interface SlicedMeasure {
  readonly measure: string;
  readonly unit: Unit;
  readonly p50: readonly (number | null)[];
  readonly p90: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

export interface SliceChange {
  readonly measure: string;
  /** The first slice of the new level. */
  readonly slice: number;
  /** Median of the slices since the last change, and up to the next one. */
  readonly before: number;
  readonly after: number;
  /** Of the permutation test. */
  readonly p: number;
}

/** Conversations of the measure phase: complete when all their requests were sent and ended ok. */
export interface ConversationCounts {
  readonly complete: number;
  readonly incomplete: number;
}

/** `result.json`, also what `run --json` prints. Instants are RFC 3339 in UTC; durations are seconds. */
export interface ResultFile {
  readonly schema_version: 7;
  readonly run_id: string;
  readonly status: Exclude<RunStatus, 'running'>;
  readonly scenario: string;
  readonly fingerprint: string;
  /** The measure phase: from its first request to the end of its last; nulls when no request of it was sent. */
  readonly window: { readonly start: string | null; readonly end: string | null; readonly seconds: number | null };
  readonly requests: RequestCounts;
  /** Requests of the cool-down, which are in no measure of the client; absent without one. */
  readonly cool_down?: RequestCounts;
  readonly errors: Readonly<Partial<Record<ErrorReason, number>>>;
  readonly client: ClientHealth;
  /** Null when nothing was collected. */
  readonly servers: ServersResult | null;
  readonly measures: readonly MeasureResult[];
  /** What the run had to meet, and whether it did, in its worst stage and for its worst model; empty when nothing was requested. */
  readonly slos: readonly ObjectiveResult[];
  /** In their order; empty when the load has none. */
  readonly stages: readonly StageResult[];
  /** Absent when the plan does not know what its prompts share. */
  readonly prefix_cache?: PrefixCacheResult;
  /** Absent when no connection was opened to the API itself, but to a proxy for example. */
  readonly network?: NetworkResult;
  /** Absent when the run is too short for slices. */
  readonly slices?: TimeSlices;
  /** Absent when no server counts drafts. */
  readonly speculation?: SpeculationResult;
  /** Absent unless the plan was made of a recorded load. */
  readonly load_fit?: readonly LoadFit[];
  /** Absent without conversations. */
  readonly conversations?: ConversationCounts;
  /** The same requests by dimensions of the load; absent without any. A request may be in several. */
  readonly breakdown?: readonly BreakdownResult[];
}

/** Undefined: the run does not have it. */
export function scalarOf(measures: readonly MeasureResult[], measure: string): ScalarResult | undefined {
  return measures.find((each): each is ScalarResult => each.kind === 'scalar' && each.measure === measure);
}

/** Undefined: the run does not have it. */
export function distributionOf(
  measures: readonly MeasureResult[],
  measure: string,
  population: DistributionResult['population'] = 'ok',
  clock: DistributionResult['clock'] = 'sent',
): DistributionResult | undefined {
  return measures.find(
    (each): each is DistributionResult =>
      each.kind === 'distribution' &&
      each.measure === measure &&
      each.population === population &&
      each.clock === clock,
  );
}
