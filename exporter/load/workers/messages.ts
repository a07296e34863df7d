import type { LoadPhase } from '../../../core/run/record.ts';
import type { PhaseResult } from '../phases/phase-result.ts';
import type { EventBatch } from './event-log.ts';
import type { LoadMemory } from './load-memory.ts';
import type { Share } from './share.ts';

/** What a worker is started with. */
export interface WorkerStart<Setup = unknown> {
  /** What its entry makes the plan and the transport from. */
  readonly setup: Setup;
  readonly worker: Share;
  readonly memory: LoadMemory;
  /** Directory of the compile cache; null: none. */
  readonly compileCache: string | null;
}

/** What becomes known only when the run begins. */
export interface WorkerRun {
  /** CLOCK_MONOTONIC at the start of the run. */
  readonly epoch_ns: number;
  /** Whether the server accepts the request for token counts, as the probe found. */
  readonly includeUsage: boolean;
  /** The field of the maximum output length that it accepts; absent: the endpoint's own. */
  readonly lengthField?: string | undefined;
}

/** To a worker. */
export type WorkerCommand =
  | { readonly order: 'begin'; readonly run: WorkerRun }
  | { readonly order: 'prepare'; readonly phase: LoadPhase; readonly firstIndex: number }
  | { readonly order: 'run'; readonly start_ns: number | null }
  /** After `run` in all workers, if a cool-down follows the phase. */
  | { readonly order: 'cool_down' }
  | { readonly order: 'drain' }
  | { readonly order: 'abort' };

/** From a worker. */
export type WorkerReport =
  | { readonly report: 'begun' }
  | { readonly report: 'prepared' }
  | { readonly report: 'events'; readonly batch: EventBatch }
  | { readonly report: 'ended_early'; readonly graceSeconds: number | null }
  | { readonly report: 'ended'; readonly result: PhaseResult }
  | { readonly report: 'cooled_down'; readonly result: PhaseResult | null };
