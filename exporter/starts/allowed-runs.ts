import { dirname, resolve } from 'node:path';
import { isName, NAME_RULE } from '../../core/run/run.ts';
import { yamlSection, type YamlSection } from '../files/yaml-section.ts';

/** A scenario that clients may start by its name. */
export interface AllowedScenario {
  readonly name: string;
  /** Options of `llmbench run`. */
  readonly words: readonly string[];
  /** Whether `GET /probe` may start it too. */
  readonly probe: boolean;
}

/** What may be started, and how much of it at once. */
export interface AllowedRuns {
  readonly scenarios: ReadonlyMap<string, AllowedScenario>;
  /** The folder to which paths in the file are relative. */
  readonly folder: string;
  /** Runs at the same time. */
  readonly concurrent: number;
  /** Runs that wait. */
  readonly queue: number;
}

const MAX_SCENARIOS = 1000;
const MAX_CONCURRENT = 16;
const MAX_QUEUED = 100;
const DEFAULT_QUEUE = 5;
/** Set for each run that is started. */
const SET_HERE = ['runs-dir', 'run-id', 'scenario', 'json', 'config', 'shard', 'help', 'help-all'];

/**
 * Reads a file of allowed runs. Throws a `ConfigurationError` that begins with `file` if it is not valid. `problemOf`
 * returns what is wrong with the options of a scenario; null: nothing.
 */
export function parseAllowedRuns(
  text: string,
  file: string,
  problemOf: (words: readonly string[]) => string | null,
): AllowedRuns {
  const root = yamlSection(text, file);
  root.onlyHas(['scenarios', 'concurrent', 'queue']);
  const scenarios = root.section('scenarios');
  const names = scenarios.keys();
  if (names.length === 0) scenarios.refuse('', 'must name at least one scenario');
  if (names.length > MAX_SCENARIOS) scenarios.refuse('', `has more than ${MAX_SCENARIOS} entries`);
  const folder = dirname(resolve(file));
  return {
    scenarios: new Map(
      names.map((name) => {
        if (!isName(name)) scenarios.refuse(JSON.stringify(name.slice(0, 200)), `must be ${NAME_RULE}`);
        return [name, allowedScenario(scenarios.section(name), name, folder, problemOf)];
      }),
    ),
    folder,
    concurrent: root.has('concurrent') ? root.count('concurrent', 1, MAX_CONCURRENT) : 1,
    queue: root.has('queue') ? root.count('queue', 0, MAX_QUEUED) : DEFAULT_QUEUE,
  };
}

function allowedScenario(
  section: YamlSection,
  name: string,
  folder: string,
  problemOf: (words: readonly string[]) => string | null,
): AllowedScenario {
  section.onlyHas(['config', 'arguments', 'probe']);
  const config = section.text('config');
  const given = section.words('arguments');
  if (config === null && given.length === 0) section.refuse('', 'requires config or arguments');
  const taken = SET_HERE.find((option) => given.some((word) => word.split('=')[0] === `--${option}`));
  if (taken !== undefined) section.refuse('arguments', `must not contain --${taken}: serve sets it`);
  const words = [...(config === null ? [] : ['--config', resolve(folder, config)]), ...given];
  const problem = problemOf(words);
  if (problem !== null) section.refuse('', `cannot be run: ${problem}`);
  return { name, words, probe: section.boolean('probe') ?? false };
}
