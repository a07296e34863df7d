import type { LoadPhase } from '../../core/run/record.ts';
import type { ClientHealth } from '../../core/run/result.ts';
import { type RunEvents, joinedEvents } from '../../core/run/run-output.ts';
import { monotonicNow_ns, runEpoch, type RunEpoch } from '../clock/monotonic-clock.ts';
import { pause } from '../clock/pause.ts';
import { hasCode } from '../errors/expected-error.ts';
import type { PhaseResult, LoadGenerator, PhaseTurn, RunningCoolDown, BenchmarkPlan } from './load-generator.ts';
import { LocalLoad } from './local-load.ts';
import type { RunControls } from './phases/run-controls.ts';
import { stageEdges_ns } from './schedule/load-plan.ts';
import { MAX_DELAY_MS, Pauses } from './schedule/schedule.ts';
import type { Transport } from './transports/transport.ts';

/** How a benchmark ended, and the reason in one line unless it completed. */
interface BenchmarkVerdict {
  /** aborted: the user ended it early; failed: no request succeeded, too many failed, or too many in a row. */
  readonly status: 'completed' | 'aborted' | 'failed';
  readonly failure: string | null;
}

/** Whether no further phase follows this one. */
const endsTheRun = (phase: PhaseResult): boolean =>
  phase.broken !== null || phase.tooManyErrors !== null || phase.overBudget !== null;

/** The verdict on a benchmark from the phases that began. Using up a configured budget is a planned end. */
function benchmarkVerdict(
  { failedRequestThreshold }: Pick<BenchmarkPlan, 'failedRequestThreshold'>,
  phases: readonly PhaseResult[],
  { aborting, interrupted }: Pick<RunControls, 'aborting' | 'interrupted'>,
): BenchmarkVerdict {
  const broken = phases.find((phase) => phase.broken !== null)?.broken;
  if (broken != null) return { status: 'failed', failure: broken };
  const tooMany = phases.find((phase) => phase.tooManyErrors !== null)?.tooManyErrors;
  if (tooMany != null) return { status: 'failed', failure: tooMany };
  if (interrupted && aborting.aborted)
    return { status: 'aborted', failure: 'aborted: requests in flight were cancelled' };
  if (interrupted) return { status: 'aborted', failure: 'ended early: requests in flight were completed' };
  const measure = phases.find((phase) => phase.phase === 'measure');
  if (measure === undefined || measure.requests.ok === 0) {
    const why = phases.find((phase) => phase.overBudget !== null)?.overBudget ?? null;
    return { status: 'failed', failure: `no request succeeded${why === null ? firstMessage(measure) : `: ${why}`}` };
  }
  const { ok, error, timeout } = measure.requests;
  const share = (error + timeout) / (ok + error + timeout);
  if (failedRequestThreshold !== null && share > failedRequestThreshold) {
    const failure = `${error + timeout} of ${ok + error + timeout} requests failed, more than the threshold ${failedRequestThreshold}`;
    return { status: 'failed', failure };
  }
  return { status: 'completed', failure: null };
}

function firstMessage(phase: PhaseResult | undefined): string {
  const [reason, message] = Object.entries(phase?.messages ?? {})[0] ?? [];
  return reason === undefined ? '' : `: ${reason} (${message})`;
}

/**
 * Reports when stages begin and end. `edges_ns`: the beginning of each and the end of the last, since `start_ns`.
 * `end` ends the stage that an early end of the phase interrupts.
 */
function announceStages(
  edges_ns: readonly number[],
  start_ns: number,
  events: Required<RunEvents>,
  now_ns: () => number,
): { end(): void } {
  const pauses = new Pauses(now_ns);
  let current: number | null = null;
  const endCurrent = (at_ns: number): void => {
    if (current !== null) events.stageEnded(current, at_ns);
    current = null;
  };
  edges_ns.forEach((edge_ns, i) => {
    const at_ns = start_ns + edge_ns;
    pauses.until(at_ns, () => {
      endCurrent(at_ns);
      if (i === edges_ns.length - 1) return;
      const stage = (current = i + 1);
      events.stageStarted(stage, at_ns);
    });
  });
  return {
    end: () => {
      pauses.stop();
      if (current !== null) endCurrent(Math.min(now_ns(), start_ns + (edges_ns[current] ?? 0)));
    },
  };
}

/** Maximum delay after a common start; due times are relative to that start anyway. */
export const MAX_LATE_SECONDS = 5;
/** Time limit for writing a phase's first requests. */
const PREPARATION_MS = 2_000;
/** More than any warm-up sends. */
const MAX_WARMUP_REQUESTS = 1e9;
/** Delay between the command to run and the first stage, so that all workers have received the command. */
const STAGES_LEAD_NS = 20e6;

export interface BenchmarkParts {
  readonly transport: Transport;
  readonly observers: readonly RunEvents[];
  readonly controls: RunControls;
  /** Awaited before the phase's first request, and before its clock starts. */
  readonly beforePhase?: (phase: LoadPhase) => Promise<void>;
  /**
   * Awaited after `beforePhase` of the measure phase, if the plan has no `measureStart_ns`: a start that several machines
   * agree on, relative to the start of the run. Null: the run has been stopped. It and `beforePhase` may throw a
   * `ExpectedError`.
   */
  readonly agreeStart_ns?: () => Promise<number | null>;
  /** Start of the run's clock; default: now. */
  readonly epoch?: RunEpoch;
  /** Generates the load; default: this thread does, over the transport. */
  readonly generator?: LoadGenerator;
}

export interface BenchmarkOutcome extends BenchmarkVerdict {
  readonly epoch: RunEpoch;
  /** The phases that began, in order. */
  readonly phases: readonly PhaseResult[];
  readonly health: ClientHealth;
}

/**
 * Runs a benchmark: the warm-up until its last request has ended, then the measure phase with its cool-down. Measurements
 * go to the observers and are not stored. The transport stays open. Failed requests are results, not errors of this function.
 */
export async function runBenchmark(plan: BenchmarkPlan, parts: BenchmarkParts): Promise<BenchmarkOutcome> {
  const epoch = parts.epoch ?? runEpoch();
  const epoch_ns = epoch.monotonic_ns;
  const generator = parts.generator ?? new LocalLoad({ ...parts, plan, epoch_ns });
  const now_ns = (): number => Math.round(monotonicNow_ns()) - epoch_ns;
  const events = joinedEvents(parts.observers);
  const phases: PhaseResult[] = [];
  let late: BenchmarkVerdict | null = null;
  try {
    for (const phase of ['warmup', 'measure'] as const) {
      const load = plan[phase];
      if (load === null) continue;
      if (parts.controls.draining.aborted || phases.some(endsTheRun)) break;
      await parts.beforePhase?.(phase);
      const start_ns = phase === 'measure' ? (plan.measureStart_ns ?? (await parts.agreeStart_ns?.()) ?? null) : null;
      if (start_ns !== null) late = await untilStart(start_ns, now_ns, parts.controls.draining);
      if (late !== null) break;
      const turn = { phase, load, firstIndex: firstIndex(plan, phases) };
      phases.push(...(await observedPhase(generator, turn, start_ns, events, now_ns)));
    }
  } catch (error) {
    if (!hasCode(error, 'no_start')) throw error;
    late = { status: 'failed', failure: error.message };
  } finally {
    generator.stop();
  }
  const verdict = late ?? benchmarkVerdict(plan, phases, parts.controls);
  return { ...verdict, epoch, phases, health: generator.health() };
}

/** Waits until shortly before a phase's start; returns a verdict when that has passed. */
async function untilStart(
  start_ns: number,
  now_ns: () => number,
  givenUp: AbortSignal,
): Promise<BenchmarkVerdict | null> {
  const late_ns = now_ns() - start_ns;
  if (late_ns > MAX_LATE_SECONDS * 1e9) {
    const failure = `the common start passed ${(late_ns / 1e9).toFixed(1)} s before the measure phase could begin`;
    return { status: 'failed', failure };
  }
  for (let wait_ms = 0; !givenUp.aborted && (wait_ms = (start_ns - now_ns()) / 1e6 - PREPARATION_MS) > 0;)
    await pause(Math.min(wait_ms, MAX_DELAY_MS), givenUp);
  return null;
}

/** In a sharded run every index must be unique, and shards do not know how many warm-up requests the others sent. */
function firstIndex({ shard: { parts }, warmup }: BenchmarkPlan, before: readonly PhaseResult[]): number {
  if (parts === 1 || before.length === 0) return before.reduce((taken, phase) => taken + phase.positions, 0);
  return warmup?.requestCount ?? MAX_WARMUP_REQUESTS;
}

async function observedPhase(
  generator: LoadGenerator,
  turn: PhaseTurn,
  start_ns: number | null,
  events: Required<RunEvents>,
  now_ns: () => number,
): Promise<PhaseResult[]> {
  // Made just before the phase, so that its first requests are written and its clock runs.
  const prepared = await generator.prepare(turn);
  events.phaseStarted(turn.phase, now_ns());
  const { arrivals } = turn.load.load;
  const staged = arrivals?.kind === 'stages' ? arrivals.stages : null;
  // The edges of stages are known before they come.
  const zero_ns = start_ns ?? (staged === null ? null : now_ns() + STAGES_LEAD_NS);
  const stages = staged && announceStages(stageEdges_ns(staged), zero_ns ?? 0, events, now_ns);
  const { result, coolDown } = await prepared.run(zero_ns);
  stages?.end();
  const end_ns = result.end_ns ?? now_ns();
  events.phaseEnded(turn.phase, end_ns);
  return coolDown === null ? [result] : [result, await observedCoolDown(coolDown, events, now_ns)];
}

/** It began before the phase ended, and is reported as the next one. */
async function observedCoolDown(
  { start_ns, ended }: RunningCoolDown,
  events: Required<RunEvents>,
  now_ns: () => number,
): Promise<PhaseResult> {
  events.phaseStarted('cooldown', start_ns);
  const result = await ended;
  const end_ns = result.end_ns ?? now_ns();
  events.phaseEnded('cooldown', end_ns);
  return result;
}
