import type { RunEvents } from '../../core/run/run-output.ts';
import type { RunEpoch } from '../clock/monotonic-clock.ts';
import type { RunControls } from '../load/phases/run-controls.ts';
import type { WorkerLoad } from '../load/workers/worker-load.ts';
import type { ServePage } from '../publish/served-page.ts';
import type { ServerLoadNow } from '../servers/summary/load-now.ts';
import type { RunStore } from '../store/run-store.ts';
import type { RunPlan } from '../store/run-writer.ts';
import type { Rendezvous } from '../store/shards/rendezvous.ts';
import type { MetricsPages, RecognizedTargets } from './metrics-pages.ts';
import type { PlannedLoad } from './planned-load.ts';
import type { PreparedTraffic } from './prepared-traffic.ts';
import type { RunRequest } from './run-request.ts';
import type { ServerCollection } from './server-collection.ts';

type Close = () => unknown;

/**
 * Closes resources in reverse order: an `AsyncDisposableStack`, which Node provides from version 24 on. Every resource
 * is closed even when another fails to close.
 */
export class Closers {
  readonly #closers: Close[] = [];

  add(close: Close): void {
    this.#closers.push(close);
  }

  /** Throws the error of the last resource that failed, after all were closed, as nested `finally` blocks do. */
  async close(): Promise<void> {
    let failed: { readonly error: unknown } | null = null;
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failed = { error };
      }
    }
    if (failed !== null) throw failed.error;
  }
}

/** What a run requires from the program that performs it. */
export interface RunHost {
  /** Shows a line to the user. */
  say(line: string): void;
  /** Shows a line for debugging; absent: such lines are not wanted. */
  readonly explain?: (line: string) => void;
  /**
   * Called once, when the run's clock starts, for an observer of the run. `servers`: the current load of the servers.
   */
  observe(epoch: RunEpoch, servers: () => ServerLoadNow | null): RunEvents & { stop(): void };
  readonly servePage: ServePage;
  /** Where this machine meets the others that measure the same run; null or absent: it does not. */
  readonly rendezvous?: Rendezvous | null;
}

/** A run, with what its steps have found out so far. */
export interface RunContext extends PreparedTraffic {
  readonly request: RunRequest;
  readonly controls: RunControls;
  readonly host: RunHost;
  readonly version: string;
  /** Close what the run has opened. */
  readonly closers: Closers;

  /** After the probe: `form` is what the servers accept. */
  readonly store: RunStore;
  readonly planned: PlannedLoad;
  readonly pages: MetricsPages;
  /** Null: this thread generates the load. */
  readonly workers: WorkerLoad | null;

  /** When the run's clock has started. */
  readonly epoch: RunEpoch;
  /** Null: nothing is collected. */
  readonly servers: ServerCollection | null;
  readonly recognized: RecognizedTargets;
  readonly plan: RunPlan;
}

/** Before anything is sent. */
export type RequestedRun = Pick<RunContext, 'request' | 'controls' | 'host' | 'version' | 'closers'>;

/** The servers have responded to the probe. */
export type PreparedRun = Omit<RunContext, 'epoch' | 'servers' | 'recognized' | 'plan'>;
