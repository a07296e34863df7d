import type { Gate, Schedule } from './schedule.ts';

/**
 * A fixed number of slots, each with one request at a time: the next is due the moment the slot's answer has ended, or,
 * when the server asked for a wait (`Retry-After`), the moment that is over.
 */
export function closedLoop(concurrency: number): Schedule {
  const waits = new Set<NodeJS.Timeout>();

  const fill = (gate: Gate, due_ns: number): void => {
    gate.send(due_ns, (end_ns, retryAfterSeconds) => {
      if (retryAfterSeconds === null || retryAfterSeconds <= 0) fill(gate, end_ns);
      else wait(gate, retryAfterSeconds);
    });
  };

  const wait = (gate: Gate, seconds: number): void => {
    const over_ns = gate.now_ns() + seconds * 1e9;
    const timer = setTimeout(
      () => {
        waits.delete(timer);
        // A timer may fire early by a fraction of a millisecond.
        if (gate.now_ns() < over_ns) wait(gate, (over_ns - gate.now_ns()) / 1e9);
        else fill(gate, Math.round(over_ns));
      },
      Math.ceil(seconds * 1000),
    );
    waits.add(timer);
  };

  return {
    concurrency,
    start(gate) {
      const due_ns = gate.now_ns();
      for (let slot = 0; slot < concurrency; slot++) fill(gate, due_ns);
    },
    stop() {
      for (const timer of waits) clearTimeout(timer);
      waits.clear();
    },
  };
}
