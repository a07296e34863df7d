import type { Outcome, PhaseName } from '../../core/run/record.ts';
import type { ErrorReason } from '../../core/run/record.ts';
import type { RequestFeed } from './request-feed.ts';
import type { RequestSender } from './request-sender.ts';
import type { RunControls } from './run-controls.ts';
import type { Gate, Schedule } from './schedule.ts';
import type { ClosedRequest, StreamReader } from './stream.ts';

export interface PhasePlan {
  readonly phase: PhaseName;
  readonly schedule: Schedule;
  readonly feed: RequestFeed;
  /** Position in the run of the phase's first request. */
  readonly firstIndex: number;
  /** No request is sent after it; null when only the feed's end ends the phase. */
  readonly durationSeconds: number | null;
  /** After the duration, or after too many errors, requests under way get this long before they are cancelled. */
  readonly gracePeriodSeconds: number;
  /** 0 is no limit. */
  readonly maxConsecutiveErrors: number;
}

/** What came of a phase; times are since the run's start. */
export interface PhaseResult {
  readonly phase: PhaseName;
  /** Its first request; null when none was sent. */
  readonly start_ns: number | null;
  /** When its last request had ended. */
  readonly end_ns: number | null;
  readonly requests: Readonly<Record<Outcome, number>>;
  readonly errors: Readonly<Partial<Record<ErrorReason, number>>>;
  /** The first message of each reason, for one line of a log. */
  readonly messages: Readonly<Partial<Record<ErrorReason, string>>>;
  /** Requests sent a second time because their kept connection was dead. */
  readonly connectionRetries: number;
  /** Why it was given up because of too many errors in a row; null when it was not. */
  readonly tooManyErrors: string | null;
}

/** Sends a phase's requests as its schedule wants them, and resolves when the last of them has ended. */
export function runPhase(plan: PhasePlan, sender: RequestSender, controls: RunControls): Promise<PhaseResult> {
  return new Phase(plan, sender, controls).run();
}

class Phase implements Gate {
  readonly #plan: PhasePlan;
  readonly #sender: RequestSender;
  readonly #controls: RunControls;
  readonly #inFlight = new Set<StreamReader>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #requests: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  readonly #errors: Partial<Record<ErrorReason, number>> = {};
  readonly #messages: Partial<Record<ErrorReason, string>> = {};
  #start_ns: number | null = null;
  #end_ns: number | null = null;
  #stopped = false;
  #connectionRetries = 0;
  #consecutiveErrors = 0;
  #tooManyErrors: string | null = null;
  #resolve: (result: PhaseResult) => void = () => undefined;

  constructor(plan: PhasePlan, sender: RequestSender, controls: RunControls) {
    this.#plan = plan;
    this.#sender = sender;
    this.#controls = controls;
  }

  run(): Promise<PhaseResult> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      const { draining, aborting } = this.#controls;
      draining.addEventListener('abort', this.#stop);
      aborting.addEventListener('abort', this.#cancel);
      if (draining.aborted) this.#stop();
      else this.#begin();
    });
  }

  now_ns(): number {
    return this.#sender.now_ns();
  }

  send(due_ns: number, closed: (end_ns: number, retryAfterSeconds: number | null) => void): boolean {
    if (this.#stopped) return false;
    const ready = this.#plan.feed.take();
    if (ready === null) {
      this.#stop();
      return false;
    }
    this.#start_ns ??= this.now_ns();
    const index = this.#plan.firstIndex + ready.position;
    const reader = this.#sender.send(ready, index, this.#plan.phase, due_ns, (ended, request) => {
      this.#inFlight.delete(ended);
      this.#count(request);
      closed(request.record.end_ns, request.retryAfterSeconds);
      this.#endIfDone();
    });
    this.#inFlight.add(reader);
    return true;
  }

  #begin(): void {
    const { schedule, durationSeconds, gracePeriodSeconds } = this.#plan;
    if (durationSeconds !== null) {
      this.#timer(durationSeconds, () => {
        this.#stop();
        this.#timer(gracePeriodSeconds, this.#cancel);
      });
    }
    schedule.start(this);
    this.#endIfDone();
  }

  #count(request: ClosedRequest): void {
    const { outcome, reason, end_ns } = request.record;
    this.#requests[outcome]++;
    this.#end_ns = Math.max(this.#end_ns ?? 0, end_ns);
    if (request.connectionRetried) this.#connectionRetries++;
    if (outcome === 'ok') this.#consecutiveErrors = 0;
    if (reason === null) return;
    this.#errors[reason] = (this.#errors[reason] ?? 0) + 1;
    if (request.message !== null) this.#messages[reason] ??= request.message;
    if (outcome !== 'cancelled') this.#countError(reason, request.message);
  }

  #countError(reason: ErrorReason, message: string | null): void {
    const { maxConsecutiveErrors, gracePeriodSeconds } = this.#plan;
    this.#consecutiveErrors++;
    if (maxConsecutiveErrors === 0 || this.#consecutiveErrors < maxConsecutiveErrors || this.#tooManyErrors !== null)
      return;
    const last = message === null ? reason : `${reason} (${message})`;
    this.#tooManyErrors = `stopped after ${maxConsecutiveErrors} errors in a row; the last: ${last}`;
    this.#stop();
    this.#timer(gracePeriodSeconds, this.#cancel);
  }

  readonly #stop = (): void => {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#plan.schedule.stop();
    this.#endIfDone();
  };

  readonly #cancel = (): void => {
    for (const reader of this.#inFlight)
      reader.giveUp({ reason: 'cancelled', message: 'the run ended before the answer' });
  };

  #endIfDone(): void {
    if (!this.#stopped || this.#inFlight.size > 0) return;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#controls.draining.removeEventListener('abort', this.#stop);
    this.#controls.aborting.removeEventListener('abort', this.#cancel);
    this.#resolve({
      phase: this.#plan.phase,
      start_ns: this.#start_ns,
      end_ns: this.#end_ns,
      requests: this.#requests,
      errors: this.#errors,
      messages: this.#messages,
      connectionRetries: this.#connectionRetries,
      tooManyErrors: this.#tooManyErrors,
    });
  }

  #timer(seconds: number, then: () => void): void {
    this.#timers.push(setTimeout(then, seconds * 1000));
  }
}
