import { changedTags, isTag, TAG_RULE } from '../../../../core/run/tag.ts';
import { editRun } from '../../../store/changes/edit-run.ts';
import { reasonOf } from '../../../errors/store-errors.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { asksForHelp, helpText } from '../../options/help-text.ts';
import { readArguments } from '../../options/options.ts';
import { atLeastOne, namedRuns, RUNS_DIR, storeOf } from './stored-runs.ts';

export const OPTIONS = { 'runs-dir': RUNS_DIR };
const USAGE = 'llmbench runs tag RUN… +TAG… -TAG… [options]';
const EXAMPLES = [
  'llmbench runs tag latest +baseline',
  'llmbench runs tag 20261121T19 +release-1.4 -candidate',
  'llmbench runs list --where tag=baseline',
];

/** Adds tags to runs or removes them. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(helpText(USAGE, OPTIONS, EXAMPLES));
    return ExitCode.done;
  }
  const { changes, others } = tagChanges(argv);
  const { values, positionals } = readArguments(OPTIONS, others, process.env, { name: 'RUN', most: Infinity });
  const names = atLeastOne(positionals, USAGE);
  if (changes.length === 0) throw new CliError('+TAG or -TAG is required: llmbench runs tag RUN +TAG -TAG');
  const store = await storeOf(values['runs-dir']);
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
}

interface TagChange {
  readonly tag: string;
  readonly isGiven: boolean;
}

/** `+x` adds a tag, `-x` removes it; flags with two dashes and run ids are passed on. */
function tagChanges(argv: readonly string[]): { changes: readonly TagChange[]; others: readonly string[] } {
  const isChange = (argument: string): boolean => /^(\+|-(?!-))./.test(argument);
  const changes = argv.filter(isChange).map((argument) => ({ tag: argument.slice(1), isGiven: argument[0] === '+' }));
  const wrong = changes.find(({ tag }) => !isTag(tag));
  if (wrong !== undefined) {
    throw new CliError(`${JSON.stringify(wrong.tag)} is not a valid tag: a tag has ${TAG_RULE}`);
  }
  return { changes, others: argv.filter((argument) => !isChange(argument)) };
}
