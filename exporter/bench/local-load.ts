import type { ClientHealth } from '../../core/run/result.ts';
import { readingOf } from './answer-reader.ts';
import type { BenchmarkPlan } from './benchmark-plan.ts';
import { chunkListener } from './chunk-listener.ts';
import { ClientHealthMonitor } from './client-health.ts';
import { ClockThread } from './clock-thread.ts';
import { ContentRecognizer } from './content-recognizer.ts';
import { FixedDeal, SharedDeal, type Deal } from './deal.ts';
import { Deadlines } from './deadlines.ts';
import { EarlyEnd } from './early-end.ts';
import { EventQueue } from './event-queue.ts';
import type { LoadGenerator, PhaseTurn, PreparedPhase } from './load-generator.ts';
import type { RunObserver } from './observer.ts';
import { OutputBudget } from './output-budget.ts';
import { phaseSchedule, requestsAhead } from './phase-schedule.ts';
import { runPhase, type PhasePlan } from './phases.ts';
import { RequestFeed } from './request-feed.ts';
import { RequestSender } from './request-sender.ts';
import type { RunControls } from './run-controls.ts';
import type { Transport } from './transport.ts';
import { DEALT, newLoadMemory, type LoadMemory } from './workers/load-memory.ts';
import { shareOf, shareWithin, WHOLE, type Share } from './workers/share.ts';

export interface LocalLoadParts {
  readonly plan: BenchmarkPlan;
  readonly transport: Transport;
  readonly observers: readonly RunObserver[];
  readonly controls: RunControls;
  /** CLOCK_MONOTONIC of the run's zero. */
  readonly epoch_ns: number;
  /** Which of the workers of this load it is; absent: the only one. */
  readonly worker?: Share;
  /** What the workers count together; absent: there are no others. */
  readonly memory?: LoadMemory;
  /** Told when this load ends the phase before its time, with the time after which requests under way are cancelled. */
  readonly endedEarly?: (graceSeconds: number | null) => void;
}

/** Makes its share of the load in this thread. */
export class LocalLoad implements LoadGenerator {
  readonly #parts: LocalLoadParts;
  readonly #worker: Share;
  readonly #share: Share;
  readonly #memory: LoadMemory;
  readonly #earlyEnd: EarlyEnd;
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
    const limit = plan.maxOutputTokensTotal;
    this.#budget = limit === null ? null : new OutputBudget(shareOf(limit, plan.shard), memory.committed);
    this.#health = new ClientHealthMonitor(parts.observers);
    this.#deadlines = new Deadlines(plan);
    const observers = [this.#health, ...parts.observers];
    this.#sender = new RequestSender(
      parts.transport,
      {
        endpoint: plan.form.endpoint,
        recognizer: new ContentRecognizer(plan.form.endpoint.variableKeys),
        queue: new EventQueue(),
        listener: chunkListener(observers),
        epoch_ns: parts.epoch_ns,
        secrets: plan.secrets,
        ...readingOf(plan.form),
      },
      this.#deadlines,
      observers,
    );
  }

  async prepare(turn: PhaseTurn): Promise<PreparedPhase> {
    // Whoever has company is told to begin with an empty memory by the one who leads them.
    if (this.#parts.memory === undefined) this.#earlyEnd.clear();
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
    const { durationSeconds, gracePeriodSeconds } = load;
    return {
      phase,
      feed: this.#feed({ phase, load }),
      schedule: await phaseSchedule(load, phase, () => ClockThread.launch(epoch_ns), this.#share),
      firstIndex,
      durationSeconds,
      gracePeriodSeconds,
      maxConsecutiveErrors: plan.maxConsecutiveErrors,
      earlyEnd: this.#earlyEnd,
      cancellation: phase === 'measure' ? plan.cancellation : null,
      budget: this.#budget,
    };
  }

  #feed({ phase, load: { load, requestCount } }: Pick<PhaseTurn, 'phase' | 'load'>): RequestFeed {
    const { form, shard } = this.#parts.plan;
    const ahead = Math.max(1, shareOf(requestsAhead(load), this.#share));
    // What is due at a time of its own is dealt with the time; a closed loop's next request is for whoever is free.
    const onDemand = this.#worker.parts === 1 ? 0 : (load.concurrency ?? 1);
    const deal: Deal =
      load.arrivals === null
        ? new SharedDeal(shard, this.#memory.dealt, DEALT[phase], onDemand)
        : new FixedDeal(this.#share);
    return new RequestFeed(form, phase, requestCount, ahead, deal);
  }
}
