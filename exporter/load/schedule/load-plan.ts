import type { LoadPhase } from '../../../core/run/record.ts';
import { seededRandom } from '../../../core/stats/seeded-random.ts';

/** How the requests of a phase arrive: the one description from the command line to the thread that sends them. */
export type LoadPlan = ClosedLoad | OpenLoad | StagedLoad;

interface LoadLimits {
  /** The slots open one after the other over this time; 0: all at once. */
  readonly concurrencyRampSeconds: number;
  /** Maximum number of requests before their first chunk with content; null: no limit. */
  readonly prefillConcurrency: number | null;
  /** That limit grows from 1 over this time; 0: it applies in full from the start. */
  readonly prefillConcurrencyRampSeconds: number;
}

/** A request is due when the previous one in its slot has ended. */
export interface ClosedLoad extends LoadLimits {
  /** Requests kept in flight. */
  readonly concurrency: number;
  readonly arrivals: null;
}

/** Requests have their own due times, regardless of the server. */
export interface OpenLoad extends LoadLimits {
  /** Maximum number of requests in flight; null: no limit. */
  readonly concurrency: number | null;
  readonly arrivals: RatePlan | TracePlan;
}

/** Stages of one phase that follow each other, each with its own load. */
export interface StagedLoad extends LoadLimits {
  /** The highest concurrency of the stages; null: one of them has no limit of requests in flight. */
  readonly concurrency: number | null;
  readonly arrivals: StagesPlan;
}

export const ARRIVAL_PATTERNS = ['poisson', 'constant', 'gamma'] as const;
export type ArrivalPattern = (typeof ARRIVAL_PATTERNS)[number];

/** Arrivals at a rate. */
export interface RatePlan {
  readonly kind: 'rate';
  /** Requests per second. */
  readonly requestRate: number;
  readonly pattern: ArrivalPattern;
  /** Shape of the gamma distribution of the gaps (vLLM's burstiness): 1 is Poisson, more is smoother. */
  readonly smoothness: number;
  /** The rate grows linearly from 0 over this time; 0: it applies in full from the start. */
  readonly rampSeconds: number;
  /** The same seed gives the same arrivals. */
  readonly seed: number;
}

/** Arrivals at the times of the dataset. Times are milliseconds, as in AIPerf's flags. */
export interface TracePlan {
  readonly kind: 'trace';
  /** The first request of the trace is due immediately, regardless of its time. */
  readonly autoOffset: boolean;
  /** The schedule starts here; earlier requests are skipped. */
  readonly startOffset_ms: number | null;
  /** Later requests are skipped. */
  readonly endOffset_ms: number | null;
  /** The times are divided by it: 2 replays a trace twice as fast; absent: 1. */
  readonly speedup?: number;
}

export interface StagesPlan {
  readonly kind: 'stages';
  readonly stages: readonly StagePlan[];
  /** Of the stages with a rate. */
  readonly pattern: ArrivalPattern;
  readonly smoothness: number;
  readonly seed: number;
}

export type StagePlan = RateStage | ConcurrencyStage;

/** Requests have their own due times. */
export interface RateStage {
  readonly kind: 'rate';
  /** Requests per second at its start and at its end; the rate changes linearly. */
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
}

/** So many requests are kept in flight, those of the stages before included. */
export interface ConcurrencyStage {
  readonly kind: 'concurrency';
  readonly concurrency: number;
  readonly seconds: number;
}

/** One phase: its load, and its limits, of which the first one reached ends it; at least one is set. */
export interface PhaseLoad {
  readonly load: LoadPlan;
  readonly requestCount: number | null;
  /** Number of whole conversations, instead of `requestCount`, which their requests become; absent: not limited. */
  readonly conversationCount?: number;
  readonly durationSeconds: number | null;
  /** How long requests in flight may take after the duration. */
  readonly gracePeriodSeconds: number;
  /** Free slots send requests that are not measured until the last one that is has ended; absent: they stay free. */
  readonly coolDown?: boolean;
}

/** The lowest limit of requests in flight, in prefill or not; infinite without one. */
export function slotsOf({ concurrency, prefillConcurrency }: LoadPlan): number {
  return Math.min(concurrency ?? Infinity, prefillConcurrency ?? Infinity);
}

/** The most requests that these loads have in flight; null: one of them has no limit. */
export function mostInFlight(loads: readonly LoadPlan[]): number | null {
  const most = Math.max(...loads.map(({ concurrency }) => concurrency ?? Infinity));
  return most === Infinity ? null : most;
}

/** Whether a due request may have to wait until another has ended or has left prefill. */
export function mayWait({ concurrency, prefillConcurrency, arrivals }: LoadPlan): boolean {
  return prefillConcurrency !== null || (arrivals !== null && arrivals.kind !== 'stages' && concurrency !== null);
}

/** Maximum number of requests of an open load that are kept ready. */
const MAX_AHEAD = 1024;

/** Number of requests to write ahead: one for each slot of a closed load, or those of one second. */
export function requestsAhead({ arrivals, concurrency }: LoadPlan): number {
  if (arrivals === null) return concurrency;
  if (arrivals.kind === 'stages') return Math.max(...arrivals.stages.map(aheadOfStage));
  return arrivals.kind === 'rate' ? Math.min(Math.ceil(arrivals.requestRate), MAX_AHEAD) : 64;
}

function aheadOfStage(stage: StagePlan): number {
  if (stage.kind === 'concurrency') return stage.concurrency;
  return Math.min(Math.ceil(highestRate(stage)), MAX_AHEAD);
}

/** Requests per second. */
export const highestRate = ({ from, to }: RateStage): number => Math.max(from, to);

/** When each stage begins, and at the end when the last one ends: nanoseconds since the start of the first. */
export function stageEdges_ns(stages: readonly StagePlan[]): number[] {
  const edges = [0];
  let seconds = 0;
  for (const stage of stages) edges.push(Math.round((seconds += stage.seconds) * 1e9));
  return edges;
}

/** Requests that are cancelled on purpose, as impatient users do. */
export interface CancellationPlan {
  /** Share of the requests, 0 to 1. */
  readonly ratio: number;
  /** Relative to the time the request was sent. */
  readonly delaySeconds: number;
  /** The same seed picks the same requests. */
  readonly seed: number;
}

/** Whether the request at a position of a phase is cancelled. */
export function isCancelled(plan: CancellationPlan, phase: LoadPhase, position: number): boolean {
  return seededRandom(`${plan.seed}/cancellation/${phase}/${position}`)() < plan.ratio;
}
