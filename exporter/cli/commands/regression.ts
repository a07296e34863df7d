import { acknowledgeRegression, readScenarioState } from '../../judge/scenario-state.ts';
import type { OpenRegression } from '../../../core/api/scenarios.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError, ExitCode } from '../failure.ts';
import { command } from '../command.ts';
import { AUTHOR_OPTION, requestedAuthor } from '../options/judge-options.ts';
import { flag, text, type OptionValues } from '../options/options.ts';
import { VERDICT_RECEIVER_OPTIONS } from '../options/publish-options.ts';
import { STORAGE_OPTIONS, storageAccess } from '../options/storage-options.ts';
import { pushScenario, requestedVerdictReceiver } from '../scenario-series.ts';
import { RUNS_DIR, storeOf } from './runs/stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  ...STORAGE_OPTIONS,
  reason: text('TEXT', 'why the regression is accepted for now; required by acknowledge', null),
  ...AUTHOR_OPTION,
  ...VERDICT_RECEIVER_OPTIONS,
  json: flag('print JSON'),
};

const USAGE = 'llmbench regression (show SCENARIO | acknowledge SCENARIO --reason TEXT) [options]';
const EXAMPLES = [
  'llmbench regression show nightly',
  'llmbench regression acknowledge nightly --reason "known: slower driver until the upgrade of December"',
];
const NOTES =
  'A regression is open until further runs are no longer slower, or `llmbench baseline accept` makes their level the normal\n' +
  'one. While it is open, check ends with exit code 99, unless it was acknowledged.\n';

/** Shows the open regression of a scenario, or records that it is known. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, notes: NOTES, positionals: { name: 'arguments', max: 2 } },
  async ({ options: values, positionals }) => {
    const [verb, scenario] = positionals;
    if (scenario === undefined || (verb !== 'show' && verb !== 'acknowledge')) throw new CliError(`usage: ${USAGE}`);
    const store = await storeOf(values['runs-dir'], storageAccess(values));
    return verb === 'show' ? show(store, scenario, values) : acknowledge(store, scenario, values);
  },
);

async function show(store: RunStore, scenario: string, { json }: OptionValues<typeof OPTIONS>): Promise<number> {
  const state = await readScenarioState(store.directory, scenario);
  if (state === null) throw new CliError(`nothing was judged or accepted of scenario ${scenario} in ${store.place}`);
  const { open } = state;
  if (json)
    process.stdout.write(`${JSON.stringify({ scenario, state: state.state, open_regression: open }, null, 2)}\n`);
  else
    process.stdout.write(
      `${open === null ? `${scenario} has no open regression (${state.state})` : regressionText(scenario, open)}\n`,
    );
  return ExitCode.done;
}

async function acknowledge(store: RunStore, scenario: string, options: OptionValues<typeof OPTIONS>): Promise<number> {
  const { reason } = options;
  if ((reason ?? '').trim() === '')
    throw new CliError('--reason is required: the log keeps why a regression does not gate');
  const receiver = await requestedVerdictReceiver(options);
  const open = await acknowledgeRegression(store, scenario, { author: requestedAuthor(options, process.env), reason });
  if (open === null) throw new CliError(`scenario ${scenario} has no open regression to acknowledge`, ExitCode.failed);
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ scenario, open_regression: open }, null, 2)}\n`
      : `acknowledged; it stays recorded and no longer fails checks\n${regressionText(scenario, open)}\n`,
  );
  await pushScenario(store, scenario, receiver);
  return ExitCode.done;
}

function regressionText(
  scenario: string,
  { sentence, run_ids, needs_to_recover, acknowledged }: OpenRegression,
): string {
  const by =
    acknowledged &&
    `acknowledged ${acknowledged.at} by ${acknowledged.author ?? 'unknown'}: ${acknowledged.reason ?? ''}`;
  const ends =
    needs_to_recover === null ? null : `ends after about ${needs_to_recover} more runs that look like the baseline`;
  return [`${scenario}: ${sentence}`, ends, by, `compare with: ${run_ids.join(',')}`]
    .filter((line) => line !== null)
    .join('\n');
}
