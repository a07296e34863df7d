import type { RunEvents } from '../../../core/run/run-output.ts';
import { Pauses } from '../schedule/pauses.ts';

/**
 * Reports when stages begin and end. `edges_ns`: the beginning of each and the end of the last, since `start_ns`.
 * `end` ends the stage that an early end of the phase interrupts.
 */
export function announceStages(
  edges_ns: readonly number[],
  start_ns: number,
  events: Required<RunEvents>,
  now_ns: () => number,
): { end(): void } {
  const pauses = new Pauses(now_ns);
  let current: number | null = null;
  const endCurrent = (at_ns: number): void => {
    if (current !== null) events.stageEnded(current, at_ns);
    current = null;
  };
  edges_ns.forEach((edge_ns, i) => {
    const at_ns = start_ns + edge_ns;
    pauses.until(at_ns, () => {
      endCurrent(at_ns);
      if (i === edges_ns.length - 1) return;
      const stage = (current = i + 1);
      events.stageStarted(stage, at_ns);
    });
  });
  return {
    end: () => {
      pauses.stop();
      if (current !== null) endCurrent(Math.min(now_ns(), start_ns + (edges_ns[current] ?? 0)));
    },
  };
}
