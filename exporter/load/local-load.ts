import type { ClientHealth } from '../../core/run/result.ts';
import { readingOf, EventQueue, Deadlines } from './responses/response-reader.ts';
import { ClientHealthMonitor } from './client/client-health.ts';
import { ClockThread } from './schedule/clock-thread.ts';
import { ContentRecognizer } from './responses/content-recognizer.ts';
import { FixedDeal, SharedDeal, type Deal, RequestFeed } from './requests/request-feed.ts';
import { EarlyEnd, judgedRequests } from './phases/early-end.ts';
import type { LoadGenerator, PhaseTurn, PreparedPhase, BenchmarkPlan } from './load-generator.ts';
import { joinedEvents, type RunEvents } from '../../core/run/run-output.ts';
import { Measuring, OutputBudget, SharedSlots, DEALT, newLoadMemory, type LoadMemory } from './shared-counters.ts';
import type { LoadPhase } from '../../core/run/record.ts';
import type { Dataset } from './datasets/dataset.ts';
import { arrivalOffsets_ns } from './schedule/arrivals.ts';
import { closedLoop, openLoop } from './schedule/steady-loops.ts';
import { requestsAhead, type PhaseLoad } from './schedule/load-plan.ts';
import type { Schedule, WakeClock } from './schedule/schedule.ts';
import { StagedLoop, type StageParts } from './schedule/staged-loop.ts';
import { runPhase, type PhasePlan } from './phases/phases.ts';
import { RequestSender } from './requests/request-sender.ts';
import type { RunControls } from './phases/run-controls.ts';
import type { Transport } from './transports/transport.ts';
import { shareOf, shareWithin, WHOLE, type Share } from './workers/share.ts';

interface LocalLoadParts {
  readonly plan: BenchmarkPlan;
  readonly transport: Transport;
  readonly observers: readonly RunEvents[];
  readonly controls: RunControls;
  /** CLOCK_MONOTONIC at the start of the run. */
  readonly epoch_ns: number;
  /** Index among the workers of this load; absent: the only one. */
  readonly worker?: Share;
  /** Counters that the workers share; absent: there are no other workers. */
  readonly memory?: LoadMemory;
  /** Called when this load ends the phase early, with the time after which requests in flight are cancelled. */
  readonly endedEarly?: (graceSeconds: number | null) => void;
}

/** Generates its share of the load in this thread. */
export class LocalLoad implements LoadGenerator {
  readonly #parts: LocalLoadParts;
  readonly #worker: Share;
  readonly #share: Share;
  readonly #memory: LoadMemory;
  readonly #earlyEnd: EarlyEnd;
  readonly #measuring: Measuring;
  readonly #budget: OutputBudget | null;
  readonly #health: ClientHealthMonitor;
  readonly #deadlines: Deadlines;
  readonly #sender: RequestSender;

  constructor(parts: LocalLoadParts) {
    const { plan, worker = WHOLE, memory = newLoadMemory() } = parts;
    this.#parts = parts;
    this.#worker = worker;
    this.#share = shareWithin(plan.shard, worker);
    this.#memory = memory;
    this.#earlyEnd = new EarlyEnd(memory.earlyEnd, parts.endedEarly);
    this.#measuring = new Measuring(memory.measuring);
    const limit = plan.maxOutputTokensTotal;
    this.#budget = limit === null ? null : new OutputBudget(shareOf(limit, plan.shard), memory.committed);
    this.#health = new ClientHealthMonitor(parts.observers);
    this.#deadlines = new Deadlines(plan);
    const events = joinedEvents([this.#health, ...parts.observers]);
    this.#sender = new RequestSender(
      parts.transport,
      {
        endpoint: plan.form.endpoint,
        recognizer: new ContentRecognizer(plan.form.endpoint.variableKeys),
        queue: new EventQueue(),
        listener: events,
        epoch_ns: parts.epoch_ns,
        secrets: plan.secrets,
        ...readingOf(plan.form),
      },
      this.#deadlines,
      events,
    );
  }

  async prepare(turn: PhaseTurn): Promise<PreparedPhase> {
    // With several workers, the leading thread resets the shared memory before the phase.
    if (this.#parts.memory === undefined) {
      this.#earlyEnd.clear();
      this.#measuring.begin(1);
    }
    const plan = await this.#phasePlan(turn);
    const run: PreparedPhase['run'] = async (start_ns) => {
      this.#health.phaseStarted(turn.phase);
      const result = await runPhase({ ...plan, start_ns }, this.#sender, this.#parts.controls);
      this.#health.phaseEnded(turn.phase);
      return result;
    };
    return { run };
  }

  health(): ClientHealth {
    return this.#health.result();
  }

  stop(): void {
    this.#deadlines.stop();
  }

  async #phasePlan({ phase, load, firstIndex }: PhaseTurn): Promise<Omit<PhasePlan, 'start_ns'>> {
    const { plan, epoch_ns } = this.#parts;
    const { gracePeriodSeconds } = load;
    const parts = { share: this.#share, shard: plan.shard, slots: new SharedSlots(this.#memory.slots) };
    return {
      phase,
      feed: this.#feed({ phase, load }),
      schedule: await phaseSchedule(load, phase, plan.form.dataset, () => ClockThread.launch(epoch_ns), parts),
      firstIndex,
      // Stages end by their own clock, after their last arrival.
      durationSeconds: load.load.arrivals?.kind === 'stages' ? null : load.durationSeconds,
      gracePeriodSeconds,
      errorLimit: { limit: plan.errorLimit, judged: judgedRequests(load.load, plan.shard.parts) },
      earlyEnd: this.#earlyEnd,
      cancellation: phase === 'measure' ? plan.cancellation : null,
      budget: this.#budget,
      measuring: load.coolDown === true ? this.#measuring : null,
    };
  }

  #feed({ phase, load: { load, requestCount } }: Pick<PhaseTurn, 'phase' | 'load'>): RequestFeed {
    const { form, shard } = this.#parts.plan;
    const ahead = requestsAhead(load);
    // Requests with due times have a fixed share; the next request of slots goes to any worker with a free one.
    const onDemand = this.#worker.parts === 1 ? 0 : ahead;
    const deal: Deal =
      load.arrivals === null || load.arrivals.kind === 'stages'
        ? new SharedDeal(shard, this.#memory.dealt, DEALT[phase], onDemand)
        : new FixedDeal(this.#share);
    return new RequestFeed(form, phase, requestCount, Math.max(1, shareOf(ahead, this.#share)), deal);
  }
}

/** The schedule of a phase. `clock` starts a clock; it is called only when requests have their own due times. */
async function phaseSchedule(
  { load, requestCount, coolDown = false }: PhaseLoad,
  phase: LoadPhase,
  dataset: Pick<Dataset, 'due_ns'>,
  clock: () => Promise<WakeClock>,
  parts: StageParts,
): Promise<Schedule> {
  if (load.arrivals === null) return closedLoop(load, parts.share);
  if (load.arrivals.kind === 'stages') {
    const { arrivals } = load;
    const isRated = arrivals.stages.some(({ kind }) => kind === 'rate');
    return new StagedLoop({ ...load, arrivals }, isRated ? await clock() : null, {
      ...parts,
      coolsDown: coolDown,
    });
  }
  const arrivals = { offsets_ns: arrivalOffsets_ns(load.arrivals, phase, dataset), count: requestCount };
  return openLoop(load, arrivals, await clock(), parts.share);
}
