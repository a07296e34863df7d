import { Admission, openPrefill, openSlots } from './admission.ts';
import { stageOffsets_ns } from './arrivals.ts';
import { stageEdges_ns, type ConcurrencyStage, type StagedLoad } from './load-plan.ts';
import { Pauses, type Gate, type RequestClosed, type Schedule, type TurnSender, type WakeClock } from './schedule.ts';
import type { SharedSlots } from '../shared-counters.ts';
import { shareOf, type Share } from '../workers/share.ts';

/** Delay between the start of a phase and its first stage, so that the clock is asleep before that instant. */
const LEAD_NS = 5e6;

/** Whose part of the load a loop sends. */
export interface StageParts {
  /** This thread's part of the whole load. */
  readonly share: Share;
  /** This machine's part, which its threads take from the same slots. */
  readonly shard: Share;
  readonly slots: SharedSlots;
  /** Requests go on after the last stage as in it, for a cool-down; absent: no. */
  readonly coolsDown?: boolean;
}

/**
 * Stages one after the other. In a stage with a rate requests are due at their own times, regardless of the server. In a
 * stage with a concurrency a request is due whenever fewer are in flight: those of earlier stages count, so that a change
 * leaves no gap and doubles no load, and a lower concurrency waits until enough have ended. A wait that the server
 * requested (`Retry-After`) keeps the slot of a stage with a concurrency occupied.
 */
export class StagedLoop implements Schedule {
  readonly #load: StagedLoad;
  readonly #clock: WakeClock | null;
  readonly #parts: StageParts;
  readonly #edges_ns: readonly number[];
  #start_ns = 0;
  #gate: Gate | null = null;
  #admission: Admission | null = null;
  #pauses: Pauses | null = null;
  /** Arrivals given to the clock that have not rung. */
  #pending = 0;
  #allGiven = true;
  #isOver = false;

  /** `clock`: for the arrivals of stages with a rate; null: there are none. */
  constructor(load: StagedLoad, clock: WakeClock | null, parts: StageParts) {
    this.#load = load;
    this.#clock = clock;
    this.#parts = parts;
    this.#edges_ns = stageEdges_ns(load.arrivals.stages);
  }

  start(gate: Gate, start_ns = gate.now_ns() + LEAD_NS): void {
    const now_ns = (): number => gate.now_ns();
    const waits = new Pauses(now_ns);
    const { share } = this.#parts;
    const prefills = this.#load.prefillConcurrency === null ? Infinity : 0;
    this.#gate = gate;
    this.#start_ns = start_ns;
    this.#pauses = waits;
    this.#admission = new Admission(gate, { requests: Infinity, prefills });
    openPrefill(this.#admission, this.#load, start_ns, waits, now_ns, share);
    this.#load.arrivals.stages.forEach((stage, i) => {
      if (stage.kind === 'rate') return;
      const from_ns = this.#edge_ns(i);
      waits.until(from_ns, () => {
        openSlots(stage.concurrency, 0, from_ns, waits, now_ns, (at_ns) => this.#fill(stage, at_ns), share);
      });
    });
    waits.until(this.#edge_ns(this.#edges_ns.length - 1), () => {
      this.#isOver = true;
      this.#finishIfRung();
    });
    if (this.#clock === null) return;
    this.#allGiven = false;
    this.#clock.start(this.#instants(), (due_ns) => {
      this.#pending--;
      this.#parts.slots.take();
      this.#offer(due_ns);
      this.#finishIfRung();
    });
  }

  admitTurn(send: TurnSender): void {
    this.#admission?.offerTurn(send);
  }

  /** A turn of a conversation that is due after the last stage belongs to it. */
  stageOf(due_ns: number): number {
    const after = this.#edges_ns.findIndex((_, i) => due_ns < this.#edge_ns(i));
    return after < 0 ? this.#edges_ns.length - 1 : Math.max(1, after);
  }

  stop(): void {
    this.#clock?.stop();
    this.#pauses?.stop();
  }

  get unsent(): number {
    return this.#admission?.waiting ?? 0;
  }

  #edge_ns(i: number): number {
    return this.#start_ns + (this.#edges_ns[i] ?? 0);
  }

  #fill({ concurrency }: ConcurrencyStage, due_ns: number): void {
    const { slots, shard } = this.#parts;
    if (slots.claim(shareOf(concurrency, shard))) this.#offer(due_ns);
  }

  #offer(due_ns: number): void {
    this.#admission?.offer(due_ns, this.#closed);
  }

  readonly #closed: RequestClosed = (end_ns, retryAfterSeconds) => {
    const now_ns = this.#gate?.now_ns() ?? end_ns;
    if (retryAfterSeconds === null || retryAfterSeconds <= 0 || this.#at(now_ns)?.kind !== 'concurrency')
      return this.#free(end_ns);
    const over_ns = Math.round(now_ns + retryAfterSeconds * 1e9);
    this.#pauses?.until(over_ns, () => this.#free(over_ns));
  };

  #free(at_ns: number): void {
    this.#parts.slots.release();
    const stage = this.#at(at_ns);
    if (stage?.kind === 'concurrency') this.#fill(stage, at_ns);
  }

  /** The stage at an instant; null after the last, unless its load goes on. */
  #at(at_ns: number): StagedLoad['arrivals']['stages'][number] | null {
    if (this.#parts.coolsDown !== true && at_ns >= this.#edge_ns(this.#edges_ns.length - 1)) return null;
    return this.#load.arrivals.stages[this.stageOf(at_ns) - 1] ?? null;
  }

  /** The end waits for arrivals that a busy client has not sent yet: all that were planned are sent. */
  #finishIfRung(): void {
    if (this.#isOver && this.#allGiven && this.#pending === 0) this.#gate?.finish();
  }

  /** The arrivals of this share, counted. */
  *#instants(): Generator<number> {
    const { part, parts } = this.#parts.share;
    let number = 0;
    let next: number | null = null;
    for (const offset_ns of stageOffsets_ns(this.#load.arrivals)) {
      if (number++ % parts !== part) continue;
      if (next !== null) yield this.#given(next);
      next = offset_ns;
    }
    this.#allGiven = true;
    if (next !== null) yield this.#given(next);
  }

  #given(offset_ns: number): number {
    this.#pending++;
    return this.#start_ns + offset_ns;
  }
}
