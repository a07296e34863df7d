import { Admission } from './admission.ts';
import type { OpenLoad } from './load-plan.ts';
import { Pauses } from './pauses.ts';
import type { Gate, Schedule, WakeClock } from './schedule.ts';
import { openPrefill, openSlots } from './ramps.ts';
import { WHOLE, type Share } from '../workers/share.ts';

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
