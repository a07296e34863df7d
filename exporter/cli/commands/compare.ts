import { differingFacts, type Provenance } from '../../../core/run/provenance.ts';
import { ABSENT } from '../../../core/text/quantities.ts';
import { compareStored, refusal } from '../../judge/compare-stored.ts';
import { storedFigures } from '../../judge/load-figures.ts';
import type { NextContext } from '../../judge/verdict-report.ts';
import type { AcceptedDifference } from '../../judge/preflight.ts';
import type { IndexedRun } from '../../store/index/rows.ts';
import type { RunStore } from '../../store/run-store.ts';
import { CliError } from '../failure.ts';
import { command } from '../command.ts';
import { requestedRules, RULE_OPTIONS, STAGE_OPTION, VERDICT_OPTIONS } from '../options/judge-options.ts';
import { flag, type OptionValues } from '../options/options.ts';
import { SELECTOR_HELP, selectedRuns, RUNS_DIR, storeOf } from './runs/stored-runs.ts';
import { printVerdict, type VerdictValues } from '../tables/verdict-output.ts';
import { plainText } from './runs/run-listing.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  paired: flag('A and B are pairs, in their order by start: measured one right after the other with the same plan'),
  'across-scenarios': flag(
    'compare scenarios with different names, such as two engines, also with other models and endpoint types; the load has to be the same',
  ),
  ...STAGE_OPTION,
  ...RULE_OPTIONS,
  ...VERDICT_OPTIONS,
  json: flag('short for --format json'),
};

const USAGE = 'llmbench compare RUNS_A RUNS_B [options]';
const EXAMPLES = [
  'llmbench compare scenario:chat+tag:main scenario:chat+tag:candidate',
  'llmbench compare 20261121T19,20261121T20 latest --margin 3',
  'llmbench compare scenario:chat-vllm scenario:chat-sglang --across-scenarios --format html > comparison.html',
  'llmbench compare group:capacity-before group:capacity-after --margin 15',
  'llmbench compare tag:before tag:after --gate time_to_first_token:p90 --gate output_token_throughput --format markdown',
];

/** Compares two sets of stored runs, or the capacities of two sets of searches. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, notes: SELECTOR_HELP, positionals: { name: 'sets of runs', max: 2 } },
  async ({ options: values, positionals }) => {
    const [a, b] = positionals;
    if (a === undefined || b === undefined) throw new CliError(`two sets of runs are required: ${USAGE}`);
    const store = await storeOf(values['runs-dir']);
    const accepted = values['across-scenarios'] ? 'scenarios' : 'none';
    return compareRuns(
      store,
      { a: await selectedRuns(store, a), b: await selectedRuns(store, b) },
      { ...values, accepted },
    );
  },
);

type CompareValues = VerdictValues &
  OptionValues<typeof RULE_OPTIONS> & {
    readonly 'runs-dir': string;
    readonly paired: boolean;
    readonly stage?: number | null;
    readonly accepted: AcceptedDifference;
    readonly continued?: NextContext['continued'];
  };

/** Judges, prints and returns the exit code; also the end of `ab`. Throws a `CliError`. */
export async function compareRuns(
  store: RunStore,
  sides: { readonly a: readonly IndexedRun[]; readonly b: readonly IndexedRun[] },
  values: CompareValues,
): Promise<number> {
  const { paired, accepted, continued = null } = values;
  const sets = { ...sides, paired, accepted, continued, rules: requestedRules(values) };
  const refused = refusal(sets);
  if (refused !== null) throw new CliError(refused);
  const figures = storedFigures(store, values.stage ?? null);
  const report = await compareStored(store, figures, { ...sets, runsDirectory: values['runs-dir'] });
  const differences = isText(values) ? await differenceLines(store, sides) : [];
  const code = printVerdict(report, values);
  for (const line of differences)
    process.stdout.write(`${line}
`);
  return code;
}

const isText = ({ json, format }: VerdictValues): boolean => !json && format === 'text';

/** Longer lists, such as those of an upgrade, hide what matters. */
const MAX_DIFFERENCES = 20;

/** In which facts the servers, GPUs, clients and commits of the two sets differ. */
async function differenceLines(
  store: RunStore,
  { a, b }: { readonly a: readonly IndexedRun[]; readonly b: readonly IndexedRun[] },
): Promise<readonly string[]> {
  const provenances = (runs: readonly IndexedRun[]): Promise<readonly (Provenance | null)[]> =>
    Promise.all(runs.map(async ({ run_id }) => (await store.readRun(run_id)).provenance));
  const found = differingFacts(await provenances(a), await provenances(b));
  if (found.length === 0) return [];
  const text = (values: readonly string[]): string => (values.length === 0 ? ABSENT : values.join(', '));
  const lines = found
    .slice(0, MAX_DIFFERENCES)
    .map((fact) => plainText(`  ${fact.name}: ${text(fact.a)} → ${text(fact.b)}`));
  const more = found.length - lines.length;
  return ['', 'also different (not part of the fingerprint):', ...lines, ...(more > 0 ? [`  ${more} more`] : [])];
}
