import { resolve } from 'node:path';
import { ConfigurationError } from '../errors/expected-error.ts';
import { Reloaded } from '../files/reloaded.ts';
import type { ScenarioState } from '../judge/scenario-state.ts';
import { runStarter } from '../starts/run-queue.ts';
import { ScenarioSchedule, parseScheduledScenarios, type ScheduledScenarios } from '../starts/scenario-schedule.ts';
import { ScheduleLease } from '../store/recovery/serve-presence.ts';
import { CliError } from './failure.ts';
import { problemOfOptions } from './options/access-options.ts';
import { OPTIONS } from './commands/import.ts';

/** The scenarios that a `serve` evaluates. */
export interface ServedSchedule {
  readonly schedule: ScenarioSchedule;
  /** Those of the file that are expected to complete at an interval, and those that were given, in seconds by name. */
  readonly expected: ReadonlyMap<string, number>;
  /** Ends an evaluation within this time. */
  stop(within_ms: number): Promise<void>;
}

interface ScheduleRequest {
  readonly file: string;
  readonly runsDirectory: string;
  readonly expected: ReadonlyMap<string, number>;
  readonly states: () => Promise<readonly ScenarioState[]>;
  readonly info: (line: string) => void;
  readonly warn: (line: string) => void;
}

/** Reads the file of scenarios; each later change of it that is not valid is a line of `warn`. Throws a `CliError`. */
export function servedSchedule({
  file,
  runsDirectory,
  expected: given,
  states,
  info,
  warn,
}: ScheduleRequest): ServedSchedule {
  const problemOf = problemOfOptions(OPTIONS);
  try {
    const reloaded = new Reloaded((read) => parseScheduledScenarios(read(file), file, problemOf), warn);
    const expected = new Map<string, number>();
    let known: ScheduledScenarios | null = null;
    const scheduled = (): ScheduledScenarios => {
      const current = reloaded.current();
      if (current !== known) replace(expected, [...expectedOf(current), ...given]);
      known = current;
      return current;
    };
    scheduled();
    const lease = new ScheduleLease(runsDirectory);
    const schedule = new ScenarioSchedule({
      ...{ scheduled, info, warn, runsDirectory: resolve(runsDirectory) },
      startRun: runStarter(process.argv[1] ?? '', process.env),
      judgedAt: async (scenario) => {
        const newest = (await states()).find((state) => state.scenario === scenario)?.newest ?? null;
        return newest === null ? null : Date.parse(newest.at);
      },
      isLeader: () => lease.isHeld(),
    });
    return {
      ...{ schedule, expected },
      async stop(within_ms) {
        await schedule.stop(within_ms);
        await lease.release();
      },
    };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new CliError(`--scenarios-file: ${error.message}`);
    throw error;
  }
}

/** A canary is not always there. */
const expectedOf = ({ scenarios }: ScheduledScenarios): readonly (readonly [string, number])[] =>
  scenarios.filter(({ isBeside }) => !isBeside).map(({ name, every_ms }) => [name, every_ms / 1000]);

function replace<K, V>(map: Map<K, V>, entries: readonly (readonly [K, V])[]): void {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}
