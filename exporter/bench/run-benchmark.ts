import type { ClientHealth } from '../../core/run/result.ts';
import type { PhaseName } from '../../core/run/record.ts';
import { readingOf } from './answer-reader.ts';
import type { BenchmarkPlan, PhaseLoad } from './benchmark-plan.ts';
import { chunkListener } from './chunk-listener.ts';
import { ClientHealthMonitor } from './client-health.ts';
import { ClockThread } from './clock-thread.ts';
import { ContentRecognizer } from './content-recognizer.ts';
import { Deadlines } from './deadlines.ts';
import { EventQueue } from './event-queue.ts';
import { OutputBudget } from './output-budget.ts';
import { phaseSchedule, requestsAhead } from './phase-schedule.ts';
import { runEpoch } from './monotonic-clock.ts';
import type { RunEpoch } from './monotonic-clock.ts';
import type { RunObserver } from './observer.ts';
import { runPhase } from './phases.ts';
import type { PhasePlan, PhaseResult } from './phases.ts';
import { RequestFeed } from './request-feed.ts';
import { RequestSender } from './request-sender.ts';
import type { RunControls } from './run-controls.ts';
import type { Transport } from './transport.ts';

export interface BenchmarkParts {
  readonly transport: Transport;
  readonly observers: readonly RunObserver[];
  readonly controls: RunControls;
  /** Waited for before the phase's first request, and before its clock runs. */
  readonly beforePhase?: (phase: PhaseName) => Promise<void>;
  /** The run's zero of time; default: now. */
  readonly epoch?: RunEpoch;
}

export interface BenchmarkOutcome {
  /** aborted: a person ended it early; failed: no request succeeded, too many failed, or too many in a row. */
  readonly status: 'completed' | 'aborted' | 'failed';
  /** The reason in one line when it is not completed. */
  readonly failure: string | null;
  readonly epoch: RunEpoch;
  /** Those that began, in order. */
  readonly phases: readonly PhaseResult[];
  readonly health: ClientHealth;
}

/**
 * Runs a benchmark: the warm-up until its last request has ended, then the measure phase. What is measured goes to the
 * observers and is not kept. The transport stays open. Failed requests are results, not errors of this function.
 */
export async function runBenchmark(plan: BenchmarkPlan, parts: BenchmarkParts): Promise<BenchmarkOutcome> {
  const epoch = parts.epoch ?? runEpoch();
  const health = new ClientHealthMonitor(parts.observers);
  const observers = [health, ...parts.observers];
  const deadlines = new Deadlines(plan);
  const sender = new RequestSender(
    parts.transport,
    {
      endpoint: plan.form.endpoint,
      recognizer: new ContentRecognizer(plan.form.endpoint.variableKeys),
      queue: new EventQueue(),
      listener: chunkListener(observers),
      epoch_ns: epoch.monotonic_ns,
      secrets: plan.secrets,
      ...readingOf(plan.form),
    },
    deadlines,
    observers,
  );
  const phases: PhaseResult[] = [];
  try {
    const budget = plan.maxOutputTokensTotal === null ? null : new OutputBudget(plan.maxOutputTokensTotal);
    for (const phase of ['warmup', 'measure'] as const) {
      const load = plan[phase];
      if (load === null) continue;
      if (parts.controls.draining.aborted || phases.some(endsTheRun)) break;
      await parts.beforePhase?.(phase);
      const firstIndex = phases.reduce((taken, before) => taken + before.positions, 0);
      // Made when its turn has come, so that its first requests are written and its clock runs.
      const phasePlan = await planOf(phase, load, plan, epoch, firstIndex, budget);
      phases.push(await observedPhase(phasePlan, sender, observers, parts.controls));
    }
  } finally {
    deadlines.stop();
  }
  return { ...verdict(plan, phases, parts.controls), epoch, phases, health: health.result() };
}

const endsTheRun = (phase: PhaseResult): boolean => phase.tooManyErrors !== null || phase.overBudget !== null;

async function planOf(
  phase: PhaseName,
  phaseLoad: PhaseLoad,
  plan: BenchmarkPlan,
  epoch: RunEpoch,
  firstIndex: number,
  budget: OutputBudget | null,
): Promise<PhasePlan> {
  const { load, requestCount, durationSeconds, gracePeriodSeconds } = phaseLoad;
  return {
    phase,
    feed: new RequestFeed(plan.form, phase, requestCount, requestsAhead(load)),
    schedule: await phaseSchedule(phaseLoad, phase, () => ClockThread.launch(epoch.monotonic_ns)),
    firstIndex,
    durationSeconds,
    gracePeriodSeconds,
    maxConsecutiveErrors: plan.maxConsecutiveErrors,
    cancellation: phase === 'measure' ? plan.cancellation : null,
    budget,
  };
}

async function observedPhase(
  plan: PhasePlan,
  sender: RequestSender,
  observers: readonly RunObserver[],
  controls: RunControls,
): Promise<PhaseResult> {
  for (const observer of observers) observer.phaseStarted?.(plan.phase, sender.now_ns());
  const result = await runPhase(plan, sender, controls);
  const end_ns = result.end_ns ?? sender.now_ns();
  for (const observer of observers) observer.phaseEnded?.(plan.phase, end_ns);
  return result;
}

function verdict(
  plan: BenchmarkPlan,
  phases: readonly PhaseResult[],
  controls: RunControls,
): Pick<BenchmarkOutcome, 'status' | 'failure'> {
  const tooMany = phases.find((phase) => phase.tooManyErrors !== null)?.tooManyErrors;
  if (tooMany != null) return { status: 'failed', failure: tooMany };
  const overBudget = phases.find((phase) => phase.overBudget !== null)?.overBudget;
  if (overBudget != null) return { status: 'aborted', failure: overBudget };
  if (controls.aborting.aborted) return { status: 'aborted', failure: 'aborted: requests under way were cancelled' };
  if (controls.draining.aborted) return { status: 'aborted', failure: 'ended early: requests under way were finished' };
  const measure = phases.find((phase) => phase.phase === 'measure');
  if (measure === undefined || measure.requests.ok === 0) {
    return { status: 'failed', failure: `no request succeeded${firstMessage(measure)}` };
  }
  const { ok, error, timeout } = measure.requests;
  const share = (error + timeout) / (ok + error + timeout);
  if (plan.failedRequestThreshold !== null && share > plan.failedRequestThreshold) {
    const failure = `${error + timeout} of ${ok + error + timeout} requests failed, more than the threshold ${plan.failedRequestThreshold}`;
    return { status: 'failed', failure };
  }
  return { status: 'completed', failure: null };
}

function firstMessage(phase: PhaseResult | undefined): string {
  const [reason, message] = Object.entries(phase?.messages ?? {})[0] ?? [];
  return reason === undefined ? '' : `: ${reason} (${message})`;
}
