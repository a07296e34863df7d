import { Reloaded } from '../files/reloaded.ts';
import { parseAllowedRuns } from './allowed-runs.ts';
import { RunQueue } from './run-queue.ts';
import type { StartRun } from './run-process.ts';
import { ScenarioProbes } from './scenario-probes.ts';
import { ScenarioStarts } from './scenario-starts.ts';

/** What the clients of a service may start; all of it waits in one queue. */
export interface ServiceStarts {
  readonly starts: ScenarioStarts;
  readonly probes: ScenarioProbes;
  /** Ends all runs within this time. */
  stop(within_ms: number): Promise<void>;
}

export interface ServiceStartsOptions {
  /** The file of allowed runs; it is read again when it changes. */
  readonly file: string;
  readonly startRun: StartRun;
  /** Where the runs that are kept are stored, absolute. */
  readonly runsDirectory: string;
  /** What is wrong with options of `llmbench run`; null: nothing. */
  readonly problemOf: (words: readonly string[]) => string | null;
  /** Receives one line for each later change of the file that is not valid. */
  readonly problem: (line: string) => void;
}

/** Throws a `ConfigurationError` if the file is not valid. */
export function serviceStarts({
  file,
  startRun,
  runsDirectory,
  problemOf,
  problem,
}: ServiceStartsOptions): ServiceStarts {
  const reloaded = new Reloaded((read) => parseAllowedRuns(read(file), file, problemOf), problem);
  const allowed = () => reloaded.current();
  const queue = new RunQueue(allowed);
  return {
    starts: new ScenarioStarts({ allowed, queue, startRun, runsDirectory }),
    probes: new ScenarioProbes({ allowed, queue, startRun }),
    stop: (within_ms) => queue.stop(within_ms),
  };
}
