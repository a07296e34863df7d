import type { Outcome, PhaseName } from '../../../core/run/record.ts';
import type { ErrorReason } from '../../../core/run/record.ts';
import type { AnswerReader, ClosedRequest } from '../answers/answer-reader.ts';
import { isCancelled, type CancellationPlan } from '../schedule/cancellation.ts';
import type { EarlyEnd } from './early-end.ts';
import type { OutputBudget } from './output-budget.ts';
import type { ReadyRequest, RequestFeed } from '../requests/request-feed.ts';
import type { RequestSender } from '../requests/request-sender.ts';
import { Roster } from '../transports/roster.ts';
import type { RunControls } from './run-controls.ts';
import type { Gate, RequestClosed, Schedule } from '../schedule/schedule.ts';

export interface PhasePlan {
  readonly phase: PhaseName;
  readonly schedule: Schedule;
  readonly feed: RequestFeed;
  /** Start of its clock, relative to the start of the run; null: now. */
  readonly start_ns: number | null;
  /** Position in the run of the phase's first request. */
  readonly firstIndex: number;
  /** No request is sent after it; null when the end of the feed or of the schedule ends the phase. */
  readonly durationSeconds: number | null;
  /** After the duration, or after too many errors, requests in flight get this long before they are cancelled. */
  readonly gracePeriodSeconds: number;
  /** 0: no limit. */
  readonly maxConsecutiveErrors: number;
  readonly earlyEnd: EarlyEnd;
  /** Null: every request is read to its end. */
  readonly cancellation: CancellationPlan | null;
  /** Null: no limit of output tokens. */
  readonly budget: OutputBudget | null;
}

/** Result of a phase; times are relative to the start of the run. */
export interface PhaseResult {
  readonly phase: PhaseName;
  /** When its first request was sent; null when none was sent. */
  readonly start_ns: number | null;
  /** When its last request had ended. */
  readonly end_ns: number | null;
  readonly requests: Readonly<Record<Outcome, number>>;
  /** Number of requests sent. */
  readonly sent: number;
  /** Positions of the plan that were assigned: more than were sent when conversations ended before their last turn. */
  readonly positions: number;
  /** Number of requests that were due and got no free slot before the phase stopped sending. */
  readonly unsent: number;
  readonly errors: Readonly<Partial<Record<ErrorReason, number>>>;
  /** The first message of each reason, for one line of a log. */
  readonly messages: Readonly<Partial<Record<ErrorReason, string>>>;
  /** Requests sent a second time because their kept connection was dead. */
  readonly connectionRetries: number;
  /** Why the phase was stopped because of consecutive errors; null when it was not. */
  readonly tooManyErrors: string | null;
  /** Why it ended early because of the limit of output tokens; null when it did not. */
  readonly overBudget: string | null;
  /** Why the client could not continue; null when nothing failed. */
  readonly broken: string | null;
}

/** Sends a phase's requests when its schedule requests them, and resolves when the last of them has ended. */
export function runPhase(plan: PhasePlan, sender: RequestSender, controls: RunControls): Promise<PhaseResult> {
  return new Phase(plan, sender, controls).run();
}

class Phase implements Gate {
  readonly #plan: PhasePlan;
  readonly #sender: RequestSender;
  readonly #controls: RunControls;
  readonly #inFlight = new Roster<AnswerReader>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #requests: Record<Outcome, number> = { ok: 0, error: 0, timeout: 0, cancelled: 0 };
  readonly #errors: Partial<Record<ErrorReason, number>> = {};
  readonly #messages: Partial<Record<ErrorReason, string>> = {};
  #start_ns: number | null = null;
  #end_ns: number | null = null;
  #stopped = false;
  #sent = 0;
  /** Users who pause before the next turn. */
  readonly #thinking = new Map<NodeJS.Timeout, () => void>();
  /** Ends of the conversations whose next turn waits for a free prefill slot. */
  readonly #waitingTurns = new Set<() => void>();
  /** Set when even running conversations are not continued. */
  #ending = false;
  #overBudget: string | null = null;
  #connectionRetries = 0;
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
      draining.addEventListener('abort', this.#endEarly);
      aborting.addEventListener('abort', this.#cancel);
      if (draining.aborted) this.#endEarly();
      else this.#begin();
    });
  }

  now_ns(): number {
    return this.#sender.now_ns();
  }

  finish(): void {
    this.#timer(this.#plan.gracePeriodSeconds, this.#cancel);
    this.#endEarly();
  }

  send(due_ns: number, closed: RequestClosed, firstContent?: () => void): boolean {
    if (this.#stopped) return false;
    const { feed, earlyEnd } = this.#plan;
    if (earlyEnd.declared) {
      this.#endEarly();
      return false;
    }
    const ready = feed.take();
    if (ready === null || !this.#affords(ready)) {
      this.#stop();
      return false;
    }
    this.#start_ns ??= this.now_ns();
    this.#dispatch(ready, due_ns, closed, firstContent);
    // The last request of the feed: end the phase now, because no later request will find the feed empty.
    if (feed.exhausted) this.#stop();
    return true;
  }

  /** A conversation counts as closed with its last turn. */
  #dispatch(ready: ReadyRequest, due_ns: number, closed: RequestClosed, firstContent?: () => void): void {
    const { phase, firstIndex, schedule } = this.#plan;
    this.#sent++;
    const ended = (reader: AnswerReader, request: ClosedRequest): void => {
      this.#inFlight.remove(reader, place);
      clearTimeout(cancelling);
      this.#count(request);
      if (!this.#continues(ready, request, closed)) closed(request.record.end_ns, request.retryAfterSeconds);
      this.#endIfDone();
    };
    const turn = { index: firstIndex + ready.position, phase, due_ns, stage: schedule.stageOf?.(due_ns) ?? null };
    const reader = this.#sender.send(ready, turn, ended, firstContent);
    const cancelling = this.#cancelLater(ready, reader);
    const place = this.#inFlight.add(reader);
  }

  /**
   * Sends the next turn of a conversation when its user is ready; false when there is none, or no more requests are
   * sent.
   */
  #continues(ready: ReadyRequest, { record, output }: ClosedRequest, closed: RequestClosed): boolean {
    if (this.#ending || this.#plan.earlyEnd.declared || record.outcome !== 'ok' || ready.nextTurn === undefined)
      return false;
    const { delaySeconds, ready: next } = ready.nextTurn(output ?? '');
    const due_ns = record.end_ns + Math.round(delaySeconds * 1e9);
    this.#sendWhenDue(next, due_ns, closed);
    return true;
  }

  #sendWhenDue(turn: ReadyRequest, due_ns: number, closed: RequestClosed): void {
    const wait_ms = (due_ns - this.now_ns()) / 1e6;
    if (wait_ms > 0) {
      // A timer may fire early by a fraction of a millisecond: then wait once more.
      const timer = setTimeout(() => {
        this.#thinking.delete(timer);
        this.#sendWhenDue(turn, due_ns, closed);
      }, wait_ms);
      this.#thinking.set(timer, () => closed(this.now_ns(), null));
    } else {
      this.#sendTurn(turn, due_ns, closed);
    }
  }

  /** A further turn keeps its slot and waits only for a free prefill slot. */
  #sendTurn(turn: ReadyRequest, due_ns: number, closed: RequestClosed): void {
    const dropped = (): void => closed(this.now_ns(), null);
    const send = (prefilled: () => void): void => {
      // The phase may have ended early meanwhile.
      if (!this.#waitingTurns.delete(dropped)) return prefilled();
      if (this.#affords(turn)) {
        const ended: RequestClosed = (end_ns, retryAfterSeconds) => {
          prefilled();
          closed(end_ns, retryAfterSeconds);
        };
        return this.#dispatch(turn, due_ns, ended, prefilled);
      }
      prefilled();
      dropped();
      return this.#endEarly();
    };
    this.#waitingTurns.add(dropped);
    const { schedule } = this.#plan;
    if (schedule.admitTurn === undefined) send(() => undefined);
    else schedule.admitTurn(send);
  }

  #affords({ max_tokens }: ReadyRequest): boolean {
    const { budget } = this.#plan;
    if (budget === null || budget.reserve(max_tokens)) return true;
    this.#plan.earlyEnd.declare(null);
    this.#overBudget = `ended early: one more request could pass the limit of ${budget.limit} output tokens`;
    return false;
  }

  #cancelLater({ position }: ReadyRequest, reader: AnswerReader): NodeJS.Timeout | undefined {
    const { cancellation, phase } = this.#plan;
    if (cancellation === null || !isCancelled(cancellation, phase, position)) return undefined;
    const message = `cancelled on purpose after ${cancellation.delaySeconds} s`;
    return setTimeout(() => reader.giveUp({ reason: 'cancelled', message }), cancellation.delaySeconds * 1000);
  }

  #begin(): void {
    const { schedule, start_ns, durationSeconds } = this.#plan;
    if (durationSeconds !== null) {
      const untilStart_ns = start_ns === null ? 0 : start_ns - this.now_ns();
      this.#timer(durationSeconds + untilStart_ns / 1e9, () => this.finish());
    }
    schedule.start(this, start_ns ?? undefined);
    this.#endIfDone();
  }

  #count(request: ClosedRequest): void {
    const { outcome, reason, end_ns } = request.record;
    this.#requests[outcome]++;
    this.#plan.budget?.settle(request.record.requested_output_tokens, request.record.output_tokens);
    this.#end_ns = Math.max(this.#end_ns ?? 0, end_ns);
    if (request.connectionRetried) this.#connectionRetries++;
    if (outcome === 'ok') this.#plan.earlyEnd.succeeded();
    if (reason === null) return;
    this.#errors[reason] = (this.#errors[reason] ?? 0) + 1;
    if (request.message !== null) this.#messages[reason] ??= request.message;
    if (outcome !== 'cancelled') this.#countError(reason, request.message);
  }

  #countError(reason: ErrorReason, message: string | null): void {
    const { maxConsecutiveErrors, gracePeriodSeconds, earlyEnd } = this.#plan;
    const inARow = earlyEnd.failed();
    if (maxConsecutiveErrors === 0 || inARow < maxConsecutiveErrors || earlyEnd.declared) return;
    earlyEnd.declare(gracePeriodSeconds);
    const last = message === null ? reason : `${reason} (${message})`;
    this.#tooManyErrors = `stopped after ${maxConsecutiveErrors} errors in a row; the last: ${last}`;
    this.#timer(gracePeriodSeconds, this.#cancel);
    this.#endEarly();
  }

  readonly #stop = (): void => {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#plan.schedule.stop();
    this.#endIfDone();
  };

  /** Also ends the conversations whose users pause between two turns. */
  readonly #endEarly = (): void => {
    this.#ending = true;
    const thinking = [...this.#thinking];
    const waiting = [...this.#waitingTurns];
    this.#thinking.clear();
    this.#waitingTurns.clear();
    for (const [timer] of thinking) clearTimeout(timer);
    this.#stop();
    for (const [, closed] of thinking) closed();
    for (const dropped of waiting) dropped();
    this.#endIfDone();
  };

  readonly #cancel = (): void => {
    this.#inFlight.forEach((reader) =>
      reader.giveUp({ reason: 'cancelled', message: 'the run ended before the response' }),
    );
  };

  #endIfDone(): void {
    if (!this.#stopped || this.#inFlight.size > 0 || this.#thinking.size > 0 || this.#waitingTurns.size > 0) return;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#controls.draining.removeEventListener('abort', this.#endEarly);
    this.#controls.aborting.removeEventListener('abort', this.#cancel);
    this.#resolve({
      phase: this.#plan.phase,
      start_ns: this.#start_ns,
      end_ns: this.#end_ns,
      requests: this.#requests,
      sent: this.#sent,
      positions: this.#plan.feed.positions,
      // When all requests of the plan were sent, an arrival that still waits had no request left to send.
      unsent: this.#plan.feed.exhausted ? 0 : this.#plan.schedule.unsent,
      errors: this.#errors,
      messages: this.#messages,
      connectionRetries: this.#connectionRetries,
      tooManyErrors: this.#tooManyErrors,
      overBudget: this.#overBudget,
      broken: null,
    });
  }

  #timer(seconds: number, then: () => void): void {
    this.#timers.push(setTimeout(then, seconds * 1000));
  }
}
