import { isRunId } from '../../core/run/run-id.ts';
import { runGroup } from '../run/run-group.ts';
import type { RunRequest } from '../run/run-request.ts';
import { CliError } from './failure.ts';
import { flag, integer, seconds, text, type Values } from './options.ts';

/** Several runs with one command. */
export const GROUP_OPTIONS = {
  config: text('FILE', 'a YAML file with these options as keys, and a matrix of those to try in combination', null),
  'num-profile-runs': integer('how often each load is run, each time with other texts', { min: 1, max: 100 }, 1),
  'profile-run-cooldown-seconds': seconds('how long to wait between two runs', { min: 0, max: 86_400 }, 0),
  'same-prompts': flag('all runs send the same texts: from the second on prefix caches are warm'),
};

type GroupValues = Values<typeof GROUP_OPTIONS> & { readonly 'run-id': string | null };

/** The runs of one command, in their order. Throws a `CliError`. */
export function requestedGroup(steps: readonly RunRequest[], options: GroupValues): readonly RunRequest[] {
  const runs = runGroup(steps, {
    repeats: options['num-profile-runs'],
    samePrompts: options['same-prompts'],
    groupId: options['run-id'],
  });
  const unfit = runs.find(({ runId }) => runId !== null && !isRunId(runId));
  if (unfit !== undefined) throw new CliError(`--run-id is too long: its runs would be called ${String(unfit.runId)}`);
  return runs;
}

/** What the runs of a command have in common, and what a matrix therefore cannot vary. */
export const SHARED_BY_RUNS: ReadonlySet<string> = new Set([
  ...Object.keys(GROUP_OPTIONS),
  ...['url', 'runs-dir', 'run-id', 'metrics-port', 'metrics-host', 'linger', 'linger-max', 'yes', 'json'],
]);
