import type { PhaseName, RequestRecord } from './record.ts';

/**
 * Who wants to know what a benchmark does while it runs: the live metrics, the record files, the terminal. Called on the
 * measuring process's loop, so each call must be cheap and must not throw. Times are nanoseconds since the run's start.
 */
export interface RunObserver {
  phaseStarted?(phase: PhaseName, at_ns: number): void;
  phaseEnded?(phase: PhaseName, at_ns: number): void;
  /** Requests that are due from now on belong to this stage, by its number from 1. */
  stageStarted?(stage: number, at_ns: number): void;
  /** No further request is due in it; those in flight go on. */
  stageEnded?(stage: number, at_ns: number): void;
  requestSent?(phase: PhaseName, due_ns: number, sent_ns: number): void;
  /** Once per request, when its first chunk with content has been recognized. */
  firstContent?(phase: PhaseName, sinceSent_ns: number, sinceDue_ns: number): void;
  /** Once per further chunk with content: the hot path. */
  chunkGap?(phase: PhaseName, gap_ns: number): void;
  requestEnded?(record: RequestRecord): void;
  /** How late the event loop ran a timer, sampled through the measure phase. */
  eventLoopDelay?(delay_ns: number): void;
  /** When it turns out, or no longer holds, that this client may itself be what is measured. */
  clientSaturated?(saturated: boolean): void;
}
