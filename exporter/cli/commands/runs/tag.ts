import { changedTags, isTag, TAG_RULE } from '../../../../core/run/run.ts';
import { editRun } from '../../../store/changes/edit-run.ts';
import { reasonOf } from '../../../errors/expected-error.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { atLeastOne, namedRuns, RUNS_DIR, storeOf } from './stored-runs.ts';

export const OPTIONS = { 'runs-dir': RUNS_DIR };
const USAGE = 'llmbench runs tag RUN… +TAG… -TAG… [options]';
const EXAMPLES = [
  'llmbench runs tag latest +baseline',
  'llmbench runs tag 20261121T19 +release-1.4 -candidate',
  'llmbench runs list --where tag=baseline',
];

const TEXT = { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: Infinity } };

/** Adds tags to runs or removes them: `+x` adds a tag, `-x` removes it. */
export async function run(argv: readonly string[]): Promise<number> {
  const isChange = (argument: string): boolean => /^(\+|-(?!-|h$))./.test(argument);
  const changes = argv.filter(isChange).map((argument) => ({ tag: argument.slice(1), isGiven: argument[0] === '+' }));
  return changeTags(changes)(argv.filter((argument) => !isChange(argument)));
}

const changeTags = (changes: readonly TagChange[]) =>
  command(OPTIONS, TEXT, async ({ options, positionals }) => {
    const wrong = changes.find(({ tag }) => !isTag(tag));
    if (wrong !== undefined)
      throw new CliError(`${JSON.stringify(wrong.tag)} is not a valid tag: a tag has ${TAG_RULE}`);
    const names = atLeastOne(positionals, USAGE);
    if (changes.length === 0) throw new CliError('+TAG or -TAG is required: llmbench runs tag RUN +TAG -TAG');
    const store = await storeOf(options['runs-dir']);
    const change = {
      add: changes.filter(({ isGiven }) => isGiven).map(({ tag }) => tag),
      remove: changes.filter(({ isGiven }) => !isGiven).map(({ tag }) => tag),
    };
    for (const { run_id } of await namedRuns(store, names)) {
      try {
        const { tags } = await editRun(store, run_id, (file) => ({ ...file, tags: changedTags(file.tags, change) }));
        process.stdout.write(`${run_id}  ${tags.length === 0 ? 'no tags' : tags.join(', ')}\n`);
      } catch (error) {
        throw new CliError(`${run_id}: ${reasonOf(error)}`, ExitCode.failed);
      }
    }
    return ExitCode.done;
  });

interface TagChange {
  readonly tag: string;
  readonly isGiven: boolean;
}
