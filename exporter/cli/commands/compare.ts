import { compareStored, refusal } from '../../judge/compare-stored.ts';
import { storedFigures, UnreadableRunError } from '../../judge/load-figures.ts';
import type { NextContext } from '../../judge/next-command.ts';
import type { IndexedRun } from '../../store/index/rows.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError, ExitCode } from '../failure.ts';
import { asksForHelp, helpText } from '../options/help-text.ts';
import { requestedRules, RULE_OPTIONS, STAGE_OPTION, VERDICT_OPTIONS } from '../options/judge-options.ts';
import { flag, readArguments, type OptionValues } from '../options/options.ts';
import { SELECTOR_HELP, selectedRuns } from '../options/run-selectors.ts';
import { printVerdict, type VerdictValues } from '../print-verdict.ts';
import { RUNS_DIR, storeOf } from './runs/stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  paired: flag('A and B are pairs, in their order by start: measured one right after the other with the same plan'),
  ...STAGE_OPTION,
  ...RULE_OPTIONS,
  ...VERDICT_OPTIONS,
  json: flag('short for --format json'),
};

const USAGE = 'llmbench compare RUNS_A RUNS_B [options]';
const EXAMPLES = [
  'llmbench compare scenario:chat+tag:main scenario:chat+tag:candidate',
  'llmbench compare 20261121T19,20261121T20 latest --margin 3',
  'llmbench compare tag:before tag:after --gate time_to_first_token:p90 --gate output_token_throughput --format markdown',
];

/** Compares two sets of stored runs. */
export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(`${helpText(USAGE, OPTIONS, EXAMPLES)}\n${SELECTOR_HELP}`);
    return ExitCode.done;
  }
  const { values, positionals } = readArguments(OPTIONS, argv, process.env, { name: 'sets of runs', most: 2 });
  const [a, b] = positionals;
  if (a === undefined || b === undefined) throw new CliError(`two sets of runs are required: ${USAGE}`);
  const store = await storeOf(values['runs-dir']);
  return compareRuns(store, { a: await selectedRuns(store, a), b: await selectedRuns(store, b) }, values);
}

type CompareValues = VerdictValues &
  OptionValues<typeof RULE_OPTIONS> & {
    readonly 'runs-dir': string;
    readonly paired: boolean;
    readonly stage?: number | null;
    readonly configurationMayDiffer?: boolean;
    readonly continued?: NextContext['continued'];
  };

/** Judges, prints and returns the exit code; also the end of `ab`. Throws a `CliError`. */
export async function compareRuns(
  store: RunStore,
  sides: { readonly a: readonly IndexedRun[]; readonly b: readonly IndexedRun[] },
  values: CompareValues,
): Promise<number> {
  const { paired, configurationMayDiffer = false, continued = null } = values;
  const sets = { ...sides, paired, configurationMayDiffer, continued, rules: requestedRules(values) };
  const refused = refusal(sets);
  if (refused !== null) throw new CliError(refused);
  try {
    return printVerdict(
      await compareStored(store, storedFigures(store, values.stage ?? null), {
        ...sets,
        runsDirectory: values['runs-dir'],
      }),
      values,
    );
  } catch (error) {
    if (error instanceof UnreadableRunError) throw new CliError(error.message, ExitCode.failed);
    throw error;
  }
}
