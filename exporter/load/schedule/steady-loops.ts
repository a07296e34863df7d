import { WHOLE, type Share } from '../workers/share.ts';
import { Admission, openPrefill, openSlots } from './admission.ts';
import type { ClosedLoad, OpenLoad } from './load-plan.ts';
import { Pauses, type Gate, type Schedule, type WakeClock } from './schedule.ts';

/**
 * A fixed number of slots, each with one request at a time: the next is due when the slot's response has ended, or,
 * when the server requested a wait (`Retry-After`), when that wait is over.
 */
export function closedLoop(load: ClosedLoad, share: Share = WHOLE): Schedule {
  let admission: Admission | null = null;
  let pauses: Pauses | null = null;

  const start = (gate: Gate, start_ns = gate.now_ns()): void => {
    const now_ns = (): number => gate.now_ns();
    const waits = (pauses = new Pauses(now_ns));
    const prefills = load.prefillConcurrency === null ? Infinity : 0;
    const admitted = (admission = new Admission(gate, { requests: Infinity, prefills }));
    openPrefill(admitted, load, start_ns, waits, now_ns, share);
    const fill = (due_ns: number): void =>
      admitted.offer(due_ns, (end_ns, retryAfterSeconds) => {
        if (retryAfterSeconds === null || retryAfterSeconds <= 0) return fill(end_ns);
        const over_ns = Math.round(gate.now_ns() + retryAfterSeconds * 1e9);
        waits.until(over_ns, () => fill(over_ns));
      });
    openSlots(load.concurrency, load.concurrencyRampSeconds, start_ns, waits, now_ns, fill, share);
  };

  // A slot that waits for prefill is not a request that was due at that time: none is lost.
  return { start, admitTurn: (send) => admission?.offerTurn(send), stop: () => pauses?.stop(), unsent: 0 };
}

/** Delay between the start of a phase and its first arrival, so that the clock is asleep before that instant. */
const LEAD_NS = 5e6;

export interface Arrivals {
  /** Nanoseconds since the start of the phase, ascending. */
  readonly offsets_ns: Iterator<number>;
  /** Maximum number of them; null: no limit. */
  readonly count: number | null;
}

/**
 * Requests are due at given offsets regardless of the server. One that finds no free slot waits and keeps its due time,
 * so that a slow server delays requests but none is omitted. A wait that the server requested (`Retry-After`) keeps the
 * slot occupied; without a limit of requests in flight there is no slot to keep.
 */
export function openLoop(
  load: Omit<OpenLoad, 'arrivals'>,
  arrivals: Arrivals,
  clock: WakeClock,
  share: Share = WHOLE,
): Schedule {
  let admission: Admission | null = null;
  let pauses: Pauses | null = null;

  const start = (gate: Gate, start_ns = gate.now_ns() + LEAD_NS): void => {
    const now_ns = (): number => gate.now_ns();
    const waits = (pauses = new Pauses(now_ns));
    const limited = load.concurrency !== null;
    const prefills = load.prefillConcurrency === null ? Infinity : 0;
    const admitted = (admission = new Admission(gate, { requests: limited ? 0 : Infinity, prefills }));
    openPrefill(admitted, load, start_ns - LEAD_NS, waits, now_ns, share);
    const closed = (_end_ns: number, retryAfterSeconds: number | null): void => {
      if (!limited || retryAfterSeconds === null || retryAfterSeconds <= 0) return;
      admitted.closeRequestSlot();
      waits.until(gate.now_ns() + retryAfterSeconds * 1e9, () => admitted.openRequestSlot());
    };
    if (load.concurrency !== null) {
      const open = (): void => admitted.openRequestSlot();
      openSlots(load.concurrency, load.concurrencyRampSeconds, start_ns - LEAD_NS, waits, now_ns, open, share);
    }
    clock.start(instants(arrivals, start_ns, share), (due_ns) => admitted.offer(due_ns, closed));
  };

  return {
    start,
    admitTurn: (send) => admission?.offerTurn(send),
    stop() {
      clock.stop();
      pauses?.stop();
    },
    get unsent() {
      return admission?.waiting ?? 0;
    },
  };
}

function* instants({ offsets_ns, count }: Arrivals, start_ns: number, { part, parts }: Share): Generator<number> {
  for (let i = 0; i < (count ?? Infinity); i++) {
    const next = offsets_ns.next();
    if (next.done === true) return;
    if (i % parts === part) yield start_ns + next.value;
  }
}
