import { Admission } from './admission.ts';
import type { LoadPlan } from './load-plan.ts';
import { Pauses } from './pauses.ts';
import type { Gate, Schedule } from './schedule.ts';
import { openingPrefill, openPrefill } from './prefill-ramp.ts';
import { openSlots } from './slot-ramp.ts';
import type { WakeClock } from './wake-clock.ts';
import { WHOLE, type Share } from './workers/share.ts';

/** Between the start of a phase and its first arrival, so that the clock is asleep when that comes. */
const LEAD_NS = 5e6;

export interface OpenLoopPlan extends Pick<
  LoadPlan,
  'concurrency' | 'concurrencyRampSeconds' | 'prefillConcurrency' | 'prefillConcurrencyRampSeconds'
> {
  /** Absent: the whole of it. */
  readonly share?: Share;
}

export interface Arrivals {
  /** Nanoseconds since the start of the phase, ascending. */
  readonly offsets_ns: Iterator<number>;
  /** How many of them there are at most; null without a limit. */
  readonly count: number | null;
}

/**
 * Requests are due at given offsets whatever the server does. One that finds no free slot waits
 * and keeps its due time, so that a slow server delays requests but omits none. A wait that the server asked for
 * (`Retry-After`) keeps the slot taken; without a limit of requests in flight there is no slot to keep.
 */
export function openLoop(plan: OpenLoopPlan, arrivals: Arrivals, clock: WakeClock): Schedule {
  const { share = WHOLE } = plan;
  let admission: Admission | null = null;
  let pauses: Pauses | null = null;

  const start = (gate: Gate, start_ns = gate.now_ns() + LEAD_NS): void => {
    const now_ns = (): number => gate.now_ns();
    const waits = (pauses = new Pauses(now_ns));
    const limited = plan.concurrency !== null;
    const admitted = (admission = new Admission(gate, { concurrency: limited ? 0 : null, ...openingPrefill(plan) }));
    openPrefill(admitted, plan, start_ns - LEAD_NS, waits, now_ns);
    const closed = (_end_ns: number, retryAfterSeconds: number | null): void => {
      if (!limited || retryAfterSeconds === null || retryAfterSeconds <= 0) return;
      admitted.changeConcurrency(-1);
      waits.until(gate.now_ns() + retryAfterSeconds * 1e9, () => admitted.changeConcurrency(1));
    };
    if (plan.concurrency !== null) {
      const open = (): void => admitted.changeConcurrency(1);
      openSlots(plan.concurrency, plan.concurrencyRampSeconds, start_ns - LEAD_NS, waits, now_ns, open, share);
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
