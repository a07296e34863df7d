import type { PhaseName } from '../../../core/run/record.ts';
import type { RunObserver } from '../../../core/run/run-observer.ts';

/** The hot part of an observer. */
export interface ChunkListener {
  firstContent(phase: PhaseName, sinceSent_ns: number, sinceDue_ns: number): void;
  chunkGap(phase: PhaseName, gap_ns: number): void;
}

/** Calls only the observers that implement `chunk`. */
export function chunkListener(observers: readonly RunObserver[]): ChunkListener {
  const first = observers.filter((observer) => observer.firstContent !== undefined);
  const gaps = observers.filter((observer) => observer.chunkGap !== undefined);
  return {
    firstContent(phase, sinceSent_ns, sinceDue_ns) {
      for (const observer of first) observer.firstContent?.(phase, sinceSent_ns, sinceDue_ns);
    },
    chunkGap(phase, gap_ns) {
      for (const observer of gaps) observer.chunkGap?.(phase, gap_ns);
    },
  };
}
