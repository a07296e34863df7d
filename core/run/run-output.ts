import type { RunObserver } from './run-observer.ts';

/**
 * A destination of a run's measurements: its page of live metrics, its directory, a receiver of remote write, a report.
 * It is opened before the run and closed in any case. No method may throw because of the destination: `finish` reports.
 */
export interface RunOutput {
  /** Observe the benchmark while it lasts. */
  readonly observers?: readonly RunObserver[];
  /** Before the first request; returns at once. */
  begin?(): void;
  /** After the last request. `saturated`: this client may have limited what was measured. */
  end?(saturated: boolean): void;
  /**
   * When the result is written, one output after the other in the order in which they were opened: hands over what is left,
   * within the limits of the output, and ends the computing for this run. Returns lines for the user.
   */
  finish?(ending: RunEnding): Promise<readonly string[]>;
  /**
   * After all outputs have finished, again in their order: waits for others who fetch the run at their own time. The next
   * run may be measured meanwhile, so that this must need next to no computing. Returns lines for the user.
   */
  depart?(ending: RunEnding): Promise<readonly string[]>;
  close?(): Promise<void>;
}

/** How the user ended the run. */
export interface RunEnding {
  /** The run was ended early: waits are short. */
  readonly hurried: boolean;
  /** Aborted when nothing is waited for any more. */
  readonly givenUp: AbortSignal;
}
