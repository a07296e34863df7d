import type { Workshop } from './workshop.ts';

/** What a row is judged by: ours ÷ peer, ours − peer, or ours alone. */
export interface Target {
  readonly by: 'ratio' | 'difference' | 'value';
  readonly atMost: number;
}

/** One line of the table. The numbers are one per round; those of the same round were measured one after the other. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly ours: readonly number[];
  /** Of the number that the target is for, in a simulation; default: none is known. */
  readonly standardError?: number;
  /** Null when there is no peer to compare with. */
  readonly peer: readonly number[] | null;
  /** Null when the row is for information. */
  readonly target: Target | null;
}

/** What a bench may use, and where it reports what it could not do. */
export interface BenchContext {
  readonly rounds: number;
  /** How long the memory of a run is watched. */
  readonly minutes: number;
  readonly workshop: Workshop;
  /** A part that cannot be measured here, and why. */
  skipped(what: string, reason: string): void;
  /** A program that did not do its work: a fault, unlike a slow one. */
  failed(what: string, error: unknown): void;
  /** What a reader must know to read the numbers. */
  note(line: string): void;
}

/** One question about the cost of something. Throws `Unavailable` when this machine lacks what the whole bench needs. */
export interface Bench {
  readonly name: string;
  readonly question: string;
  measure(context: BenchContext): Promise<readonly Row[]>;
}
