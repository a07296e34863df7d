import { isName, isTag, NAME_RULE, TAG_RULE } from '../../../core/run/run.ts';
import { choice, flag, integer, seconds, text, type Option } from './options.ts';

const VARIES = 'it varies the concurrency; use a list of rates, such as --request-rate 5,10,20, or --find request-rate';

/** Multiple runs with one command. */
export const GROUP_OPTIONS = {
  config: text('FILE', 'YAML file with these options as keys, and a matrix of values to combine', null),
  sweep: choice(
    ['auto'] as const,
    'double the concurrency, from --concurrency (default 1), until the throughput grows by less than 10 %',
    null,
    {
      conflicts: {
        'num-profile-runs':
          'it has no repeats; repeat the loads that it found, such as --concurrency 8,16,32 --num-profile-runs 3',
        ...Object.fromEntries(['request-rate', 'stages', 'fixed-schedule'].map((name) => [name, VARIES])),
      },
    },
  ),
  'sweep-max': integer('highest concurrency of --sweep auto', { min: 1, max: 100_000 }, 512),
  'num-profile-runs': integer('number of runs of each load, each with new texts', { min: 1, max: 100 }, 1),
  'profile-run-cooldown-seconds': seconds('pause between two runs', { min: 0, max: 86_400 }, 0),
  'same-prompts': flag('send the same texts in all runs: prefix caches are warm from the second run on'),
};

/** What the runs of a command have in common, and what a matrix therefore cannot vary. */
export const SHARED_BY_RUNS: ReadonlySet<string> = new Set([
  ...Object.keys(GROUP_OPTIONS),
  ...['url', 'runs-dir', 'run-id', 'metrics-port', 'metrics-host', 'metrics-web-config-file'],
  ...['no-await-scrape', 'linger', 'linger-max', 'yes', 'json'],
]);

/** The name of a scenario: a label of metrics and a line of tables. */
export function scenarioName<T extends string | null>(help: string, fallback: T): Option<string | T> {
  return {
    help,
    value: 'NAME',
    parse: (given) => {
      const name = given.at(-1) ?? '';
      if (!isName(name)) throw new Error(NAME_RULE);
      return name;
    },
    fallback,
  };
}

/** Tags of new runs, sorted and each once. */
export const TAGS: Option<readonly string[]> = {
  help: 'tag of the run, to find it with `runs list --where tag=TAG`; may be repeated',
  value: 'TAG',
  multiple: true,
  parse(given) {
    if (!given.every(isTag)) throw new Error(TAG_RULE);
    return [...new Set(given)].sort();
  },
  fallback: [],
};
