import type { ErrorReason, LoadPhase } from '../../../core/run/record.ts';
import type { ResponseReader, ClosedRequest } from '../responses/response-reader.ts';
import { isCancelled, type CancellationPlan } from '../schedule/load-plan.ts';
import type { EarlyEnd, PhaseErrorLimit } from './early-end.ts';
import type { Measuring, OutputBudget } from '../shared-counters.ts';
import { SentRequests, type RequestSender } from '../requests/request-sender.ts';
import type { ConversationProgress, NextTurn, ReadyRequest, RequestFeed } from '../requests/request-feed.ts';
import { Roster } from '../transports/roster.ts';
import type { PhaseResult, PhaseRun } from '../load-generator.ts';
import type { RunControls } from './run-controls.ts';
import { MAX_DELAY_MS, type Gate, type RequestClosed, type Schedule } from '../schedule/schedule.ts';

const REASONING_TURN =
  'had reasoning that used up max_tokens and no other text: the reasoning is the message in the next turn; a larger --osl makes room';
const EMPTY_TURN = 'had no text: the next turn leaves the message out';

export interface PhasePlan {
  readonly phase: LoadPhase;
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
  readonly errorLimit: PhaseErrorLimit;
  readonly earlyEnd: EarlyEnd;
  /** Null: every request is read to its end. */
  readonly cancellation: CancellationPlan | null;
  /** Null: no limit of output tokens. */
  readonly budget: OutputBudget | null;
  /** How long the cool-down lasts; null: none follows. Its dataset has no conversations. */
  readonly measuring: Measuring | null;
}

/**
 * Sends a phase's requests when its schedule requests them, and resolves when the last of them has ended. A cool-down
 * then ends its requests in flight and sends no more.
 */
export function runPhase(plan: PhasePlan, sender: RequestSender, controls: RunControls): Promise<PhaseRun> {
  return new Phase(plan, sender, controls).run();
}

class Phase implements Gate {
  readonly #plan: PhasePlan;
  readonly #sender: RequestSender;
  readonly #controls: RunControls;
  readonly #inFlight = new Roster<ResponseReader>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #own: SentRequests;
  readonly #coolDown = new SentRequests('cooldown');
  /** Set when no further request of the phase itself is sent. */
  #isComplete = false;
  /** Set when no request is sent any more. */
  #stopped = false;
  #positions = 0;
  #unsent = 0;
  /** Users who pause before the next turn. */
  readonly #thinking = new Map<NodeJS.Timeout, { readonly turn: ReadyRequest; readonly dropped: () => void }>();
  /** Ends of the conversations whose next turn waits for a free prefill slot. */
  readonly #waitingTurns = new Set<() => void>();
  /** Set when even running conversations are not continued. */
  #ending = false;
  /** Whether requests in flight have a limited time, because the duration is over. */
  #isLimited = false;
  #resolve: ((run: PhaseRun) => void) | null = null;
  #resolveCoolDown: (result: PhaseResult) => void = () => undefined;

  constructor(plan: PhasePlan, sender: RequestSender, controls: RunControls) {
    this.#plan = plan;
    this.#own = new SentRequests(plan.phase);
    this.#sender = sender;
    this.#controls = controls;
  }

  run(): Promise<PhaseRun> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      const { draining, aborting } = this.#controls;
      draining.addEventListener('abort', this.#endEarly);
      aborting.addEventListener('abort', this.#cancel);
      if (draining.aborted) this.#endEarly();
      else this.#start();
    });
  }

  now_ns(): number {
    return this.#sender.now_ns();
  }

  finish(): void {
    this.#isLimited = true;
    this.#timer(this.#plan.gracePeriodSeconds, this.#cancel);
    if (this.#plan.measuring === null) return this.#endEarly();
    this.#complete();
    this.#endIfDone();
  }

  send(due_ns: number, closed: RequestClosed, firstContent?: () => void): boolean {
    if (this.#stopped) return false;
    const { feed, earlyEnd } = this.#plan;
    if (earlyEnd.declared) {
      this.#endEarly();
      return false;
    }
    const ready = this.#take();
    if (ready === null || !this.#affords(ready)) {
      this.#stop();
      return false;
    }
    this.#begin(ready, due_ns, closed, firstContent);
    // The last request of the feed: end the phase now, because no later request will find the feed empty.
    if (feed.exhausted) this.#complete();
    return true;
  }

  /** The next request of the phase, else of its cool-down. */
  #take(): ReadyRequest | null {
    const { feed, measuring } = this.#plan;
    if (!this.#isComplete) {
      const ready = feed.take();
      if (ready !== null) return ready;
      this.#complete();
    }
    if (measuring === null) return null;
    if (!measuring.isOver) return feed.take();
    this.#endCoolDown();
    return null;
  }

  /** What the next request counts to. */
  get #sending(): SentRequests {
    return this.#isComplete && this.#plan.measuring !== null ? this.#coolDown : this.#own;
  }

  /** A conversation counts as closed when nothing of it is in flight or waits to be sent. */
  #begin(ready: ReadyRequest, due_ns: number, closed: RequestClosed, firstContent?: () => void): void {
    const conversation = ready.of?.conversation;
    if (conversation === undefined) return this.#dispatch(ready, due_ns, closed, firstContent);
    const requestClosed: RequestClosed = (end_ns, retryAfterSeconds) => {
      conversation.open -= 1;
      if (conversation.open === 0) closed(end_ns, retryAfterSeconds);
    };
    const alongside = conversation.begun(due_ns);
    this.#dispatch(ready, due_ns, requestClosed, firstContent);
    this.#sendAll(conversation, alongside, requestClosed);
  }

  #dispatch(ready: ReadyRequest, due_ns: number, closed: RequestClosed, firstContent?: () => void): void {
    const { firstIndex, schedule, earlyEnd, errorLimit } = this.#plan;
    const position = earlyEnd.sent(errorLimit);
    const counts = this.#sending;
    const isOwn = counts === this.#own;
    counts.requestSent(this.now_ns());
    if (isOwn) this.#plan.measuring?.requestSent();
    const ended = (reader: ResponseReader, request: ClosedRequest): void => {
      this.#inFlight.remove(reader, seat);
      clearTimeout(cancelling);
      this.#count(request, counts, position);
      if (isOwn) this.#measured();
      this.#continue(ready, request, closed);
      closed(request.record.end_ns, request.retryAfterSeconds);
      this.#endIfDone();
    };
    const stage = isOwn ? (schedule.stageOf?.(due_ns) ?? null) : null;
    const place = ready.of?.conversation.placeOf(ready.of.number, firstIndex);
    const turn = { index: firstIndex + ready.position, phase: counts.phase, due_ns, stage, place };
    const reader = this.#sender.send(ready, turn, ended, firstContent);
    const cancelling = this.#cancelLater(ready, reader);
    const seat = this.#inFlight.add(reader);
  }

  /** Sends what a conversation has next, when its users and tools are ready, unless it failed or no more is sent. */
  #continue({ of }: ReadyRequest, { record, text }: ClosedRequest, closed: RequestClosed): void {
    if (of === undefined) return;
    const { conversation, number } = of;
    if (record.outcome !== 'ok' && !conversation.failed) {
      conversation.failed = true;
      this.#endPauses(conversation);
    }
    if (this.#ending || this.#plan.earlyEnd.declared || conversation.failed) return;
    const isLast = number + 1 >= conversation.count;
    const response = isLast ? '' : this.#assistantMessage(text);
    this.#sendAll(conversation, conversation.answered(number, response, record.end_ns), closed);
  }

  /** What a failed conversation would send later is not awaited. */
  #endPauses(conversation: ConversationProgress): void {
    for (const [timer, { turn, dropped }] of this.#thinking) {
      if (turn.of?.conversation !== conversation) continue;
      clearTimeout(timer);
      this.#thinking.delete(timer);
      dropped();
    }
  }

  #sendAll(conversation: ConversationProgress, next: readonly NextTurn[], closed: RequestClosed): void {
    conversation.open += next.length;
    for (const { ready, due_ns } of next) this.#sendWhenDue(ready, due_ns, closed);
  }

  /** Servers refuse a message without text: reasoning that used up max_tokens takes its place, or there is none. */
  #assistantMessage(text: ClosedRequest['text']): string {
    if (text === null || text.output.trim() !== '') return text?.output ?? '';
    const hasReasoning = text.reasoning.trim() !== '';
    this.#own.found.add('turns', hasReasoning ? REASONING_TURN : EMPTY_TURN);
    return hasReasoning ? text.reasoning : '';
  }

  #sendWhenDue(turn: ReadyRequest, due_ns: number, closed: RequestClosed): void {
    const wait_ms = (due_ns - this.now_ns()) / 1e6;
    if (wait_ms > 0) {
      // A timer may fire early by a fraction of a millisecond, and its delay has a maximum: then wait once more.
      const again = (): void => {
        this.#thinking.delete(timer);
        this.#sendWhenDue(turn, due_ns, closed);
      };
      const timer = setTimeout(again, Math.min(wait_ms, MAX_DELAY_MS));
      this.#thinking.set(timer, { turn, dropped: () => closed(this.now_ns(), null) });
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
      if (turn.of?.conversation.failed === true) {
        prefilled();
        dropped();
        return this.#endIfDone();
      }
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
    this.#sending.overBudget = `ended early: one more request could pass the limit of ${budget.limit} output tokens`;
    return false;
  }

  #cancelLater({ position }: ReadyRequest, reader: ResponseReader): NodeJS.Timeout | undefined {
    const { cancellation, phase } = this.#plan;
    if (cancellation === null || !isCancelled(cancellation, phase, position)) return undefined;
    const message = `cancelled on purpose after ${cancellation.delaySeconds} s`;
    return setTimeout(() => reader.giveUp({ reason: 'cancelled', message }), cancellation.delaySeconds * 1000);
  }

  #start(): void {
    const { schedule, start_ns, durationSeconds } = this.#plan;
    if (durationSeconds !== null) {
      const untilStart_ns = start_ns === null ? 0 : start_ns - this.now_ns();
      this.#timer(durationSeconds + untilStart_ns / 1e9, () => this.finish());
    }
    schedule.start(this, start_ns ?? undefined);
    this.#endIfDone();
  }

  #count(request: ClosedRequest, counts: SentRequests, position: number): void {
    const { outcome, reason, requested_output_tokens, output_tokens } = request.record;
    counts.requestEnded(request);
    this.#plan.budget?.settle(requested_output_tokens, output_tokens);
    if (reason !== null && outcome !== 'cancelled') this.#countError(reason, request.message, counts, position);
  }

  #countError(reason: ErrorReason, message: string | null, counts: SentRequests, position: number): void {
    const { errorLimit, gracePeriodSeconds, earlyEnd } = this.#plan;
    const reached = earlyEnd.failed(position, errorLimit);
    if (reached === null || earlyEnd.declared) return;
    earlyEnd.declare(gracePeriodSeconds);
    const last = message === null ? reason : `${reason} (${message})`;
    counts.tooManyErrors = `stopped after ${reached} (--stop-after-errors); the last: ${last}`;
    this.#timer(gracePeriodSeconds, this.#cancel);
    this.#endEarly();
  }

  /** A request of the phase itself has ended. */
  #measured(): void {
    const { measuring } = this.#plan;
    measuring?.requestEnded();
    if (measuring?.isOver === true) this.#endCoolDown();
  }

  /** Requests of the cool-down that are in flight get a grace period of their own. */
  #endCoolDown(): void {
    if (this.#stopped) return;
    if (this.#isLimited) {
      this.#clearTimers();
      this.#timer(this.#plan.gracePeriodSeconds, this.#cancel);
    }
    this.#stop();
  }

  /** No further request of the phase itself is sent. */
  #complete(): void {
    if (this.#isComplete) return;
    const { feed, schedule, measuring } = this.#plan;
    this.#isComplete = true;
    this.#positions = feed.positions;
    // When all requests of the plan were sent, an arrival that still waits had no request left to send.
    this.#unsent = feed.exhausted ? 0 : schedule.unsent;
    if (measuring === null) return this.#stop();
    measuring.threadCompleted();
    feed.continueWithoutEnd();
  }

  readonly #stop = (): void => {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#complete();
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
    for (const [, { dropped }] of thinking) dropped();
    for (const dropped of waiting) dropped();
    this.#endIfDone();
  };

  readonly #cancel = (): void => {
    this.#inFlight.forEach((reader) =>
      reader.giveUp({ reason: 'cancelled', message: 'the run ended before the response' }),
    );
  };

  #endIfDone(): void {
    // A thread whose slots are all waiting, because the server requested it, adds no load.
    if (this.#isComplete && this.#inFlight.size === 0) this.#stop();
    if (!this.#isComplete || this.#own.inFlight > 0 || this.#thinking.size > 0 || this.#waitingTurns.size > 0) return;
    this.#resolve?.({ result: this.#ownResult(), coolDown: this.#runningCoolDown() });
    this.#resolve = null;
    if (!this.#stopped || this.#inFlight.size > 0) return;
    this.#clearTimers();
    this.#controls.draining.removeEventListener('abort', this.#endEarly);
    this.#controls.aborting.removeEventListener('abort', this.#cancel);
    this.#resolveCoolDown({ ...this.#coolDown.result(), positions: 0, unsent: 0, broken: null });
  }

  #ownResult(): PhaseResult {
    return { ...this.#own.result(), positions: this.#positions, unsent: this.#unsent, broken: null };
  }

  #runningCoolDown(): PhaseRun['coolDown'] {
    const { start_ns } = this.#coolDown;
    if (start_ns === null) return null;
    return { start_ns, ended: new Promise((resolve) => (this.#resolveCoolDown = resolve)) };
  }

  #timer(seconds: number, then: () => void): void {
    this.#timers.push(setTimeout(then, seconds * 1000));
  }

  #clearTimers(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }
}
