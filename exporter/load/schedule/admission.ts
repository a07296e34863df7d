import { WHOLE, type Share } from '../workers/share.ts';
import type { LoadPlan } from './load-plan.ts';
import type { Gate, RequestClosed, TurnSender, Pauses } from './schedule.ts';

/** The slots that are open at first; infinite without a limit. */
export interface OpenSlots {
  /** Of requests in flight. */
  readonly requests: number;
  /** Of requests in flight before their first chunk with content. */
  readonly prefills: number;
}

interface DueRequest {
  readonly due_ns: number;
  readonly closed: RequestClosed;
}

/**
 * Sends due requests in the order of their due times as soon as the limits allow: a request that waits keeps its due
 * time, so that the wait is visible as schedule delay. Further turns of conversations have priority: they already have
 * slots.
 */
export class Admission {
  readonly #gate: Gate;
  #prefillSlots: number;
  #requestSlots: number;
  #inFlight = 0;
  #prefilling = 0;
  #waiting: (DueRequest | undefined)[] = [];
  #head = 0;
  readonly #turns: TurnSender[] = [];
  #closed = false;

  constructor(gate: Gate, { requests, prefills }: OpenSlots) {
    this.#gate = gate;
    this.#requestSlots = requests;
    this.#prefillSlots = prefills;
  }

  /** Requests that are due and not sent. */
  get waiting(): number {
    return this.#waiting.length - this.#head;
  }

  /** A request is due. `closed` is called when its response has ended and its slot is free again. */
  offer(due_ns: number, closed: RequestClosed): void {
    this.#waiting.push({ due_ns, closed });
    this.#admit();
  }

  /** A further turn is due: see `Schedule`. */
  offerTurn(send: TurnSender): void {
    this.#turns.push(send);
    this.#admit();
  }

  openPrefillSlot(): void {
    this.#prefillSlots += 1;
    this.#admit();
  }

  openRequestSlot(): void {
    this.#requestSlots += 1;
    this.#admit();
  }

  /** Requests in flight keep theirs: the next one waits longer. */
  closeRequestSlot(): void {
    this.#requestSlots -= 1;
  }

  #admit(): void {
    while (this.#prefilling < this.#prefillSlots) {
      const turn = this.#turns.shift();
      if (turn === undefined) break;
      turn(this.#admitting(this.#beginPrefill()));
    }
    while (!this.#closed && this.#inFlight < this.#requestSlots && this.#prefilling < this.#prefillSlots) {
      const due = this.#waiting[this.#head];
      if (due === undefined) return;
      this.#closed = !this.#send(due);
      if (this.#closed) return;
      // Drop the reference to a request that was sent.
      this.#waiting[this.#head++] = undefined;
      if (this.#head > 1024 && this.#head * 2 > this.#waiting.length) {
        this.#waiting = this.#waiting.slice(this.#head);
        this.#head = 0;
      }
    }
  }

  /** False when the phase sends no more requests. */
  #send({ due_ns, closed }: DueRequest): boolean {
    const prefilled = this.#beginPrefill();
    this.#inFlight++;
    const sent = this.#gate.send(
      due_ns,
      (end_ns, retryAfterSeconds) => {
        prefilled();
        this.#inFlight--;
        closed(end_ns, retryAfterSeconds);
        this.#admit();
      },
      this.#admitting(prefilled),
    );
    if (!sent) {
      prefilled();
      this.#inFlight--;
    }
    return sent;
  }

  /** Counts a request in prefill; the returned function ends its prefill, and may be called again without effect. */
  #beginPrefill(): () => void {
    let prefilling = true;
    this.#prefilling++;
    return () => {
      if (!prefilling) return;
      prefilling = false;
      this.#prefilling--;
    };
  }

  /** The same, and then sends the requests that waited for it. */
  #admitting(prefilled: () => void): () => void {
    return () => {
      prefilled();
      this.#admit();
    };
  }
}

/**
 * Slots opened per turn of the event loop: responses to the first requests are read before the last are sent, otherwise
 * the time to send them all would count as the server's.
 */
const SLOTS_PER_TURN = 8;

/**
 * Opens slots one after the other, evenly spread over a time: the first immediately, the last at its end. `open` gets
 * the instant at which the slot was to open. With a share only the slots of that share open, each at its time in the
 * total load.
 */
export function openSlots(
  slots: number,
  rampSeconds: number,
  start_ns: number,
  pauses: Pauses,
  now_ns: () => number,
  open: (at_ns: number) => void,
  { part, parts }: Share = WHOLE,
): void {
  const opensAt_ns = (slot: number): number =>
    start_ns + Math.round(slots > 1 ? (rampSeconds * 1e9 * slot) / (slots - 1) : 0);
  const openFrom = (slot: number): void => {
    let next = slot;
    const turnEnd = Math.min(slots, slot + SLOTS_PER_TURN * parts);
    for (; next < turnEnd && opensAt_ns(next) <= now_ns(); next += parts) open(opensAt_ns(next));
    if (next < slots) pauses.until(opensAt_ns(next), () => openFrom(next));
  };
  openFrom(part);
}

type PrefillLimit = Pick<LoadPlan, 'prefillConcurrency' | 'prefillConcurrencyRampSeconds'>;

/**
 * Increases the limit of requests in prefill from one to the planned number, as slots open; immediately without a ramp.
 */
export function openPrefill(
  admission: Admission,
  { prefillConcurrency, prefillConcurrencyRampSeconds }: PrefillLimit,
  start_ns: number,
  pauses: Pauses,
  now_ns: () => number,
  share: Share = WHOLE,
): void {
  if (prefillConcurrency === null) return;
  const open = (): void => admission.openPrefillSlot();
  // Without a ramp there is nothing to wait for, even when the start is in the future.
  const begin_ns = prefillConcurrencyRampSeconds === 0 ? Math.min(start_ns, now_ns()) : start_ns;
  openSlots(prefillConcurrency, prefillConcurrencyRampSeconds, begin_ns, pauses, now_ns, open, share);
}
