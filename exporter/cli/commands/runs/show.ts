import { loadText } from '../../../../core/run/load.ts';
import { shellCommand } from '../../../../core/text/words.ts';
import { things, ABSENT, quantity } from '../../../../core/text/quantities.ts';
import { provenanceFacts } from '../../../../core/run/provenance.ts';
import { datasetText } from '../../../../core/run/run-dataset.ts';
import type { RunDataset } from '../../../../core/run/run-dataset.ts';
import type { ComparisonKey, RunFile } from '../../../../core/run/run.ts';
import { reasonOf } from '../../../errors/expected-error.ts';
import { CliError, ExitCode } from '../../failure.ts';
import { command } from '../../command.ts';
import { flag } from '../../options/options.ts';
import { linkLines } from '../../run-results.ts';
import { printServers } from '../../tables/server-table.ts';
import { printing } from '../../terminal-text.ts';
import { resultTable } from '../../tables/result-table.ts';
import { sweepTable } from '../../tables/group-table.ts';
import { namedSweeps, type NamedSweeps } from './named-sweeps.ts';
import { plainText } from './run-listing.ts';
import { atLeastOne, namedRuns, RUNS_DIR, storeOf } from './stored-runs.ts';

export const OPTIONS = {
  'runs-dir': RUNS_DIR,
  'show-servers': flag('also print what the servers reported: rates, percentiles with their bounds, gauges'),
  json: flag('print the whole result as JSON, identical to result.json; of a sweep its steps'),
};

const USAGE = 'llmbench runs show RUN|GROUP|scenario:NAME [options]';
const EXAMPLES = [
  'llmbench runs show latest',
  'llmbench runs show 20261121T19',
  'llmbench runs show my-sweep',
  'llmbench runs show latest --show-servers',
  'llmbench runs show nightly-7 --json | jq \'.measures[] | select(.measure == "time_to_first_token")\'',
];

/** Shows one finished run, or the table of a sweep. */
export const run = command(
  OPTIONS,
  { usage: USAGE, examples: EXAMPLES, positionals: { name: 'RUN', max: 1 } },
  async ({ options: values, positionals }) => {
    const [name = ''] = atLeastOne(positionals, USAGE);
    return show(values['runs-dir'], name, values.json, values['show-servers']);
  },
);

/** Prints the named run. Throws a `CliError` when it does not exist or cannot be read. */
export async function show(runsDirectory: string, name: string, json: boolean, withServers = false): Promise<number> {
  const store = await storeOf(runsDirectory);
  const sweeps = await namedSweeps(store, name);
  if (sweeps !== null) return showSweeps(sweeps, json);
  const [found] = await namedRuns(store, [name]);
  if (found === undefined) return ExitCode.failed;
  try {
    const result = await store.readResult(found.run_id);
    if (json) {
      process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
      return ExitCode.done;
    }
    const file = await store.readRun(found.run_id);
    process.stdout.write(`${[...description(file), ''].join('\n')}\n${resultTable(result, printing())}\n`);
    if (withServers) await printServers(store.pathOf(found.run_id), printing().width);
    const place = { path: store.pathOf(found.run_id), runsDirectory: store.directory, grafana: null };
    process.stdout.write(`${(await linkLines(result, place)).join('\n')}\n`);
    return ExitCode.done;
  } catch (error) {
    throw new CliError(`${found.run_id}: ${reasonOf(error)}`, ExitCode.failed);
  }
}

function showSweeps({ name, sweeps, notes }: NamedSweeps, json: boolean): number {
  if (json) process.stdout.write(`${JSON.stringify({ name, sweeps }, null, 2)}\n`);
  else process.stdout.write(`${plainText(name)}\n${sweepTable(sweeps, process.stdout.columns)}\n`);
  for (const note of notes) process.stderr.write(`${plainText(note)}\n`);
  return ExitCode.done;
}

/** Who ran what against what, one fact a line; what a run does not have is left out. */
function description(run: RunFile): string[] {
  const { comparison_key: key, target, tool, source } = run;
  const recovered = run.recovered ? ' (finished by a later command after its process died)' : '';
  const facts: readonly (readonly [string, string | null])[] = [
    ['run', `${run.run_id}  ${run.status}${recovered}`],
    ['failure', run.failure],
    ['scenario', run.scenario],
    ['tags', run.tags.length === 0 ? null : run.tags.join(', ')],
    ['model', `${key.model ?? ABSENT}, ${key.endpoint_type ?? ABSENT}${streaming(key)}`],
    ['load', loadOf(key)],
    ['dataset', run.dataset && datasetText(run.dataset)],
    ...datasetFacts(run.dataset),
    ['sampling', samplingOf(key)],
    ['target', targetOf(target)],
    ...(run.provenance === null ? [] : provenanceFacts(run.provenance)),
    ['command', run.command_line && shellCommand(run.command_line)],
    ['tool', `${tool.name} ${tool.version ?? ''}`.trimEnd()],
    ['source', source === null ? null : `${source.format}: ${source.files.join(', ')}`],
    ...(source?.notes ?? []).map((note) => ['', note] as const),
    ['group', groupOf(run)],
    ['began', run.start],
    ...run.phases.map(
      ({ phase, start, end }) => [phase, `${start ?? ABSENT} to ${end ?? ABSENT}${lasted(start, end)}`] as const,
    ),
    ['fingerprint', run.fingerprint],
  ];
  return facts.flatMap(([name, fact]) => (fact === null ? [] : [`${plainText(name).padEnd(11)} ${plainText(fact)}`]));
}

function datasetFacts(dataset: RunDataset | null): (readonly [string, string | null])[] {
  if (dataset === null) return [];
  const { tokenizer, file, seed, prompt_variant } = dataset;
  return [
    ['', file && `sha256 ${file.sha256}, ${file.sampling_strategy}`],
    ['seed', `${seed}${prompt_variant === null ? '' : `, prompt variant ${prompt_variant}`}`],
    ['tokenizer', tokenizer && tokenizer.name],
  ];
}

const streaming = ({ streaming }: ComparisonKey): string =>
  streaming === null ? '' : streaming ? ', streaming' : ', without streaming';

function loadOf({ load, stop, warmup, cool_down }: ComparisonKey): string | null {
  if (load === null) return null;
  const limits = [
    stop?.request_count == null ? null : things(stop.request_count, 'requests'),
    stop?.benchmark_duration_seconds == null ? null : `for ${quantity(stop.benchmark_duration_seconds, 'seconds')}`,
    warmup?.request_count == null ? null : `after a warm-up of ${things(warmup.request_count, 'requests')}`,
    warmup?.duration_seconds == null ? null : `after a warm-up of ${quantity(warmup.duration_seconds, 'seconds')}`,
    cool_down === true ? 'with a cool-down' : null,
  ];
  return [loadText(load), ...limits.filter((limit) => limit !== null)].join(', ');
}

function samplingOf({ sampling }: ComparisonKey): string | null {
  const options = Object.entries(sampling ?? {}).map(([name, value]) => `${name} ${String(value)}`);
  return options.length === 0 ? null : options.join(', ');
}

function targetOf({ origin, system, system_version }: RunFile['target']): string | null {
  const what = [system, system_version].filter((part) => part !== null).join(' ');
  const parts = [origin, what === '' ? null : what].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join('  ');
}

function groupOf({ group_id, step, repeat }: RunFile): string | null {
  if (group_id === null) return null;
  return `${group_id}${step === null ? '' : `, step ${step}`}${repeat === null ? '' : `, repeat ${repeat}`}`;
}

function lasted(start: string | null, end: string | null): string {
  return start === null || end === null ? '' : `, ${quantity((Date.parse(end) - Date.parse(start)) / 1000, 'seconds')}`;
}
