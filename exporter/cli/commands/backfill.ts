import { things } from '../../../core/text/quantities.ts';
import { stat } from 'node:fs/promises';
import {
  inOrderOfTime,
  writePages,
  type BackfillPart,
  type BackfillOutput,
} from '../../publish/backfill/openmetrics-pages.ts';
import { readScenarioTimeline, verdictParts, type VerdictParts } from '../../publish/backfill/verdict-parts.ts';
import { oldRuns, sendOldRuns, sendVerdicts, type OldRun, type SentSamples } from '../../publish/backfill/old-runs.ts';
import { Annotator } from '../../publish/grafana-annotations.ts';
import { readGrafanaAccess } from '../../publish/outgoing-request.ts';
import { readReceiver, type Receiver } from '../../publish/remote-write/receiver.ts';
import type { RunStore } from '../../store/run-store.ts';
import { listScenarioPaths } from '../../store/scenarios/scenario-folders.ts';
import { codeOf, reasonOf } from '../../errors/expected-error.ts';
import { CliError, ExitCode } from '../failure.ts';
import { openRuns } from '../open-runs.ts';
import { command } from '../command.ts';
import { flag, text, texts, type OptionValues } from '../options/options.ts';
import {
  GRAFANA_OPTIONS,
  RECEIVER_OPTIONS,
  requestedGrafana,
  requestedLabels,
  requestedReceiver,
} from '../options/publish-options.ts';
import { namedRuns } from './runs/stored-runs.ts';
import { saidDelay } from './push.ts';
import { VERSION } from '../version.ts';

export const OPTIONS = {
  'runs-dir': text('DIR', 'directory of the stored runs', 'runs'),
  all: flag('all finished runs with a known start time, and the verdicts on all scenarios'),
  output: text(
    'FILE|DIR/|-',
    'OpenMetrics with timestamps for `promtool tsdb create-blocks-from openmetrics`; a directory gets one file per two hours',
    null,
  ),
  republish: texts(
    'GLOB',
    "server metric families to publish in addition to the common ones, such as 'vllm:*'; may be repeated",
  ),
  ...RECEIVER_OPTIONS,
  ...GRAFANA_OPTIONS,
  json: flag('print a summary as JSON'),
};

const EXAMPLES = [
  'llmbench backfill --all --output blocks/',
  'for file in blocks/*.openmetrics; do promtool tsdb create-blocks-from openmetrics "$file" /prometheus; done',
  'llmbench backfill 20261121T190000Z-abcdefghij --output - | head',
  'llmbench backfill --all --remote-write-url http://mimir:9009/api/v1/push',
  'llmbench backfill latest --grafana-url http://grafana:3000 --grafana-token-file token   # also ends the regions of a killed run',
];

const SECONDS_PER_RUN = 30;
const MAX_RUNS = 10_000;

/** The summary that `--json` prints. */
interface Done {
  readonly runs: number;
  /** Samples of verdicts, and how long a verdict is held unless a later one follows; null without verdicts. */
  readonly verdicts: { readonly samples: number; readonly held_seconds: number } | null;
  readonly refused: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly samples_written: number;
  readonly samples_dropped: number;
  readonly samples_waiting: number;
  /** Runs whose annotations Grafana did not accept, with the reason. */
  readonly not_annotated: Readonly<Record<string, string>>;
}

export const run = command(
  OPTIONS,
  {
    usage: 'llmbench backfill (RUN… | --all) [options]',
    examples: EXAMPLES,
    positionals: { name: 'runs', max: MAX_RUNS },
  },
  async ({ options, positionals }) => {
    if (options.all && positionals.length > 0) throw new CliError('--all and names of runs are mutually exclusive');
    if (!options.all && positionals.length === 0)
      throw new CliError('runs are required: name them, or pass --all; `llmbench runs` lists them');
    if (options.output === '') throw new CliError('--output is empty: a file, a directory or - is required');
    const ways = [options.output, options['remote-write-url'], options['grafana-url']].filter((way) => way !== null);
    if (ways.length === 0)
      throw new CliError('a destination is required: --output FILE, --remote-write-url URL or --grafana-url URL');
    const store = await openRuns(options['runs-dir']);
    const runs = options.all ? await store.list() : await namedRuns(store, positionals);
    const runIds = runs.map(({ run_id }) => run_id);
    const verdicts = options.all ? await verdictsOf(store, requestedLabels(options['remote-write-label'])) : null;
    return report(await backfilled(store, runIds, verdicts, options), options);
  },
);

async function backfilled(
  store: RunStore,
  runIds: readonly string[],
  verdicts: VerdictParts | null,
  options: OptionValues<typeof OPTIONS>,
): Promise<Done> {
  const receiverRequest = requestedReceiver(options);
  const receiver = receiverRequest && (await readReceiver(receiverRequest, process.env));
  const grafanaRequest = requestedGrafana(options);
  const grafana = grafanaRequest && (await readGrafanaAccess(grafanaRequest, process.env));
  const refused = Object.create(null) as Record<string, string>;
  const done = new Set<string>();
  const runs = async function* (): AsyncGenerator<OldRun> {
    const extraLabels = requestedLabels(options['remote-write-label']);
    const { republish } = options;
    const old = oldRuns(store, runIds, {
      extraLabels,
      republish,
      refused: (runId, reason) => void (refused[runId] = reason),
    });
    for await (const each of old) {
      done.add(each.finished.run.run_id);
      yield each;
    }
  };
  const parts = inOrderOfTime(runs(), verdicts?.parts() ?? []);
  const files = options.output === null ? [] : await written(parts, options.output);
  const sent = receiver && (await sentTo(receiver, store, runs(), verdicts));
  const notAnnotated = grafana === null ? {} : await annotated(runs(), grafana, grafanaRequest?.dashboardUid ?? null);
  return {
    runs: done.size,
    verdicts: verdicts && { samples: verdicts.samples, held_seconds: verdicts.heldSeconds },
    refused,
    files,
    samples_written: sent?.written ?? 0,
    samples_dropped: sent?.dropped ?? 0,
    samples_waiting: sent?.waiting ?? 0,
    not_annotated: notAnnotated,
  };
}

/** Null when nothing was judged. */
async function verdictsOf(
  store: RunStore,
  extraLabels: Readonly<Record<string, string>>,
): Promise<VerdictParts | null> {
  const paths = await listScenarioPaths(store.directory);
  const timelines = await Promise.all(paths.map(readScenarioTimeline));
  const found = verdictParts(timelines, { extraLabels, now_ms: Date.now() });
  return found.samples === 0 ? null : found;
}

async function sentTo(
  receiver: Receiver,
  store: RunStore,
  runs: AsyncIterable<OldRun>,
  verdicts: VerdictParts | null,
): Promise<SentSamples> {
  const options = {
    ...{ runsDirectory: store.directory, receiver, version: VERSION, secondsPerRun: SECONDS_PER_RUN },
    problem: (line: string) => printLine(`remote write: ${line}`),
    delayed: saidDelay(printLine),
  };
  const ofRuns = await sendOldRuns(runs, options);
  if (verdicts === null || ofRuns.waiting > 0) return ofRuns;
  const ofVerdicts = await sendVerdicts(verdicts.parts(), options);
  return {
    written: ofRuns.written + ofVerdicts.written,
    dropped: ofRuns.dropped + ofVerdicts.dropped,
    waiting: ofVerdicts.waiting,
  };
}

async function written(parts: AsyncIterable<BackfillPart>, output: string): Promise<readonly string[]> {
  try {
    return await writePages(parts, await outputOf(output));
  } catch (error) {
    if (codeOf(error) === null) throw error;
    throw new CliError(`--output ${output} cannot be written: ${reasonOf(error)}`, ExitCode.failed);
  }
}

async function annotated(
  runs: AsyncIterable<OldRun>,
  access: ConstructorParameters<typeof Annotator>[0],
  dashboardUid: string | null,
): Promise<Done['not_annotated']> {
  const failed = Object.create(null) as Record<string, string>;
  for await (const { finished } of runs) {
    const annotator = new Annotator(access, dashboardUid);
    const lines = await annotator.finish(finished.run, finished.result);
    if (lines.length > 0) failed[finished.run.run_id] = lines.join('; ');
    await annotator.close();
  }
  return failed;
}

async function outputOf(path: string): Promise<BackfillOutput> {
  if (path === '-') return { kind: 'stream', write: (page) => void process.stdout.write(page) };
  const isFolder =
    path.endsWith('/') ||
    (await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    ));
  return { kind: isFolder ? 'folder' : 'file', path };
}

function report(done: Done, options: OptionValues<typeof OPTIONS>): number {
  for (const [runId, reason] of Object.entries(done.refused)) printLine(`${runId} skipped: ${reason}`);
  for (const [runId, reason] of Object.entries(done.not_annotated)) printLine(`${runId}: ${reason}`);
  if (options.json) process.stdout.write(`${JSON.stringify(done, null, 2)}\n`);
  else if (done.runs === 0 && done.verdicts === null) {
    printLine(`nothing to write: no finished run with a known start time in ${options['runs-dir']}`);
  } else {
    const what = `${things(done.runs, 'runs')}${verdictText(done.verdicts)}`;
    if (options.output !== null)
      printLine(`${what} written${done.files.length === 0 ? '' : ` to ${things(done.files.length, 'files')}`}`);
    if (options['remote-write-url'] !== null) printLine(`${things(done.samples_written, 'samples')} of ${what} sent`);
    if (options['grafana-url'] !== null) {
      const failed = Object.keys(done.not_annotated).length;
      printLine(`${done.runs - failed} of ${things(done.runs, 'runs')} annotated`);
    }
    if (done.samples_dropped > 0)
      printLine(
        `${done.samples_dropped} samples were rejected: a receiver accepts old samples only when it is configured for them ` +
          '(out_of_order_time_window); --output with promtool does not need this',
      );
    if (done.samples_waiting > 0)
      printLine(
        `${done.samples_waiting} samples are queued on disk: \`llmbench push\` sends them; later runs were not sent`,
      );
  }
  return isWhole(done) ? ExitCode.done : ExitCode.failed;
}

function verdictText(verdicts: Done['verdicts']): string {
  if (verdicts === null) return '';
  const held = verdicts.held_seconds / 86_400;
  return ` and ${things(verdicts.samples, 'samples')} of verdicts (each held until the next one, at most ${held} days)`;
}

/** Whether everything arrived; the exit code reports it to a pipeline. */
const isWhole = ({ runs, verdicts, samples_waiting, samples_dropped, not_annotated }: Done): boolean =>
  (runs > 0 || verdicts !== null) &&
  samples_waiting === 0 &&
  samples_dropped === 0 &&
  Object.keys(not_annotated).length === 0;

const printLine = (line: string): void => void process.stderr.write(`${line}\n`);
