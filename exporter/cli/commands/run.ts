import { joinedObservers } from '../../../core/run/joined-observers.ts';
import { endOfDoubling } from '../../../core/sweeps/saturation.ts';
import type { ObjectiveResult } from '../../../core/run/objectives.ts';
import { RunControls } from '../../load/phases/run-controls.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';
import { ProbeError } from '../../load/requests/probe.ts';
import { ListenError } from '../../http/listen.ts';
import { LivePage } from '../../http/live-page.ts';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { shareOf } from '../../load/workers/share.ts';
import { WorkerError } from '../../load/workers/worker-load.ts';
import { performGroup } from '../../run/run-group.ts';
import { measureRun, type PerformedRun } from '../../run/perform-run.ts';
import { checkLoad } from '../../run/planned-load.ts';
import type { RunHost } from '../../run/run-context.ts';
import { RefusedError } from '../../run/refusal.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { RunUploads } from '../../run/run-uploads.ts';
import type { ShardMeeting } from '../../run/shard-meeting.ts';
import { NoStartError } from '../../errors/no-start-error.ts';
import { StorageError } from '../../errors/storage-errors.ts';
import { reasonOf, RunNotStoredError, RunsDirectoryError } from '../../errors/store-errors.ts';
import { departureTexts } from '../departure-texts.ts';
import { CliError, ExitCode } from '../failure.ts';
import { groupResult, requestText, type GroupRun } from '../tables/group-table.ts';
import { keptRun } from './kept-run.ts';
import { modelSource } from './model-source.ts';
import { printing } from '../printing.ts';
import { linkLines } from '../run-links.ts';
import { saidOnce } from '../said-once.ts';
import { hasGrafanaToken, requestedGrafanaLink } from '../options/publish-options.ts';
import { LiveLines } from '../progress/live-lines.ts';
import { writeMessage } from '../message.ts';
import { Progress } from '../progress/progress.ts';
import { VerboseLines, verboseLine } from '../progress/verbose-lines.ts';
import { resultTable } from '../tables/result-table.ts';
import { requestedUploads } from '../requested-uploads.ts';
import { givenRun, requestedRuns, withOwnNames } from '../options/requested-runs.ts';
import { requestedFind } from '../options/find-options.ts';
import { CHECK_OPTIONS } from '../options/judge-options.ts';
import type { GivenArguments } from '../options/options.ts';
import { RUN_OPTIONS, type RunOptions } from '../options/run-options.ts';
import { requestedWebConfig } from '../options/web-config-option.ts';
import { memberLine } from '../tables/member-line.ts';
import { sweepEndLine } from '../tables/sweep-end-line.ts';
import { isRunOfSeries, PageOfSeries } from '../series/page-of-series.ts';
import { mergeLine, shardMark } from '../tables/shard-lines.ts';
import { VERSION } from '../version.ts';

export { RUN_OPTIONS as OPTIONS };

export async function run(argv: readonly string[]): Promise<number> {
  const words = await withOwnNames(argv, RUN_OPTIONS);
  const given = await givenRun(words, process.env);
  if (given.values.has('find')) return find(words, given);
  const { options, requests, steps } = await requestedRuns(words, process.env, modelSource(process.env));
  refuseUnfitCheck(options, steps, given);
  // With --check, standard output has one document: the verdict.
  const onlyVerdict = options.check && (options.json || options.format !== 'text');
  const controls = new RunControls();
  const display = new LiveLines(process.stderr, [process.stdout]);
  if (options['grafana-url'] !== null && !hasGrafanaToken(options)) writeMessage(process.stderr, NOT_ANNOTATED);
  const page = await pageOf(options, display);
  const release = stopOnSignals(controls, display);
  const runs: GroupRun[] = [];
  let uploads: RunUploads | null = null;
  let meeting: ShardMeeting | null = null;
  try {
    for (const request of requests) checkLoad(request, steps, options.yes);
    uploads = await requestedUploads(options, (line) => display.print(line));
    meeting = await requestedMeeting(options, requests, uploads);
    const rendezvous = meeting?.rendezvous ?? null;
    const uploaded = (request: RunRequest): RunRequest => uploads?.requested(request) ?? request;
    await performGroup(requests.map(uploaded), controls, {
      cooldownSeconds: options['profile-run-cooldown-seconds'],
      announce: (number, request) => {
        const most = options.sweep === null ? '' : 'at most ';
        process.stderr.write(`\nrun ${number} of ${most}${requests.length}: ${requestText(request)}\n`);
      },
      perform: (request) =>
        keptRun(runs, request, () =>
          measureRun(
            request,
            controls,
            {
              ...hostOf(request, { display, page, say: (line) => display.print(line), isVerbose: options.verbose }),
              rendezvous,
            },
            VERSION,
          ),
        ),
      finished: (performed, request) =>
        show(performed, request, {
          isMember: requests.length > 1,
          isQuiet: options.json || onlyVerdict,
          grafana: requestedGrafanaLink(options['grafana-url']),
          withServers: options['show-servers'],
          isMerged: meeting !== null,
        }),
      goesOn: (performed) => {
        const end = options.sweep === null ? null : endOfDoubling(performed.map(({ result }) => result));
        if (end !== null) display.print(sweepEndLine(end));
        return end === null;
      },
      waiting: () => page.waiting(),
      departed: (lines, count) => {
        for (const text of departureTexts(lines, count)) display.print(text);
      },
    });
  } catch (error) {
    await meeting?.leave(reasonOf(error));
    throw explained(error, controls, options.json || onlyVerdict);
  } finally {
    await page.close();
    if (!onlyVerdict) await showAll(runs, requests.length > 1, options);
    if (meeting === null) release();
  }
  let isUploaded = (await uploads?.finish()) ?? true;
  if (meeting !== null) {
    isUploaded = await meeting.end(runs[0]?.performed ?? null, isUploaded, controls.draining);
    release();
  }
  const exitCode = withUpload(exitCodeOf(runs, controls, options['slo-undecided'] === 'fail'), isUploaded);
  const judged = exitCode === ExitCode.done || exitCode === ExitCode.gate;
  return options.check && judged ? Math.max(exitCode, await checked(runs, options, words)) : exitCode;
}

/** Null unless this is a shard that is uploaded. */
async function requestedMeeting(
  options: RunOptions,
  [request]: readonly RunRequest[],
  uploads: RunUploads | null,
): Promise<ShardMeeting | null> {
  if (uploads === null || request === undefined || request.shard === null || request.runId === null) return null;
  return uploads.rendezvous({
    runId: request.runId,
    share: request.shard.share,
    runsDirectory: options['runs-dir'],
    startTimeoutSeconds: options['start-timeout'],
    lostAfterSeconds: options['shard-timeout'],
  });
}

/** The page of the live metrics: this process' own, or that of the series which this run belongs to. */
async function pageOf(options: RunOptions, display: LiveLines): Promise<CommandPage> {
  const path = options['metrics-web-config-file'];
  const webConfig = await requestedWebConfig('metrics-web-config-file', path, (line) => display.print(line));
  return isRunOfSeries() ? new PageOfSeries(path) : new LivePage(webConfig);
}

type CommandPage = Pick<LivePage, 'serve' | 'waiting' | 'close'>;

const NOT_ANNOTATED =
  'the run is not annotated in Grafana, only linked to: annotations require --grafana-token-env or --grafana-token-file';

/** A run that could not be uploaded is not where it was wanted. */
const withUpload = (exitCode: number, isUploaded: boolean): number =>
  exitCode === ExitCode.done && !isUploaded ? ExitCode.failed : exitCode;

/** `--find`: the runs are chosen while they are made. */
async function find(words: readonly string[], found: GivenArguments): Promise<number> {
  const { options, given } = await requestedFind(found, modelSource(process.env));
  const controls = new RunControls();
  const display = new LiveLines(process.stderr, [process.stdout]);
  const say = (line: string): void => display.print(line);
  const uploads = await requestedUploads(options, say);
  const once = saidOnce(say);
  const page = await pageOf(options, display);
  const release = stopOnSignals(controls, display);
  let exitCode: number;
  const { runSearch } = await import('./find-capacity.ts');
  try {
    const host = (request: RunRequest): RunHost =>
      hostOf(request, { display, page, say: once, isVerbose: options.verbose });
    const uploaded = (request: RunRequest): RunRequest => uploads?.requested(request) ?? request;
    const waiting = (): void => page.waiting();
    exitCode = await runSearch({ options, given, argv: words, controls, host, say, waiting, uploaded });
  } catch (error) {
    throw explained(error, controls, options.json);
  } finally {
    await page.close();
    release();
  }
  return withUpload(exitCode, (await uploads?.finish()) ?? true);
}

/** Judges what was measured. Confirming runs have the same options, and one run each. */
async function checked(runs: readonly GroupRun[], options: RunOptions, argv: readonly string[]): Promise<number> {
  const { checkRuns } = await import('./check.ts');
  const { storeOf } = await import('./runs/stored-runs.ts');
  const ids = runs.map(({ performed }) => performed.result.run_id);
  if (options.format === 'text' && !options.json) process.stdout.write('\n');
  const store = await storeOf(options['runs-dir']);
  return checkRuns(store, options.scenario, ids, options, [...argv, '--num-profile-runs', '1']);
}

/** Throws a `CliError`. */
function refuseUnfitCheck(options: RunOptions, steps: number, { values }: GivenArguments): void {
  if (options.check && steps > 1)
    throw new CliError('--check requires one load: without lists of loads and without a matrix');
  if (options.check || values.has('check')) return;
  // Their environment variables are those of `llmbench check`.
  const without = Object.keys(CHECK_OPTIONS).find((name) => values.get(name)?.source === `--${name}`);
  if (without !== undefined) throw new CliError(`--${without} requires --check`);
}

/** First Ctrl-C: requests in flight finish and the run is written. Second: they are cancelled and it is written. */
function stopOnSignals(controls: RunControls, display: LiveLines): () => void {
  const interrupted = (): void => {
    if (controls.draining.aborted) {
      controls.abort();
      return;
    }
    display.print('stopping: waiting for the requests in flight; press Ctrl-C again to cancel them');
    controls.drain();
  };
  // The terminal was closed: a parent passes it on that the terminal has sent to this process as well.
  const hungUp = (): void => {
    if (!controls.draining.aborted) interrupted();
  };
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  process.on('SIGHUP', hungUp);
  return () => {
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
    process.off('SIGHUP', hungUp);
  };
}

interface RunScreen {
  readonly display: LiveLines;
  readonly page: CommandPage;
  readonly say: (line: string) => void;
  readonly isVerbose: boolean;
}

function hostOf(request: RunRequest, { display, page, say, isVerbose }: RunScreen): RunHost {
  return {
    servePage: (live, pageOptions) => page.serve(live, pageOptions),
    say,
    ...(isVerbose ? { explain: (line) => display.print(verboseLine(line)) } : {}),
    observe: (epoch, servers) => {
      const plan = {
        warmupRequests: partOf(request.warmup?.requestCount ?? null, request),
        warmupSeconds: request.warmup?.durationSeconds ?? null,
        requestCount: partOf(request.measure.requestCount, request),
        durationSeconds: request.measure.durationSeconds,
      };
      const progress = new Progress(plan, display, () => monotonicNow_ns() - epoch.monotonic_ns, servers);
      if (!isVerbose) return progress;
      const verbose = new VerboseLines((line) => display.print(line));
      return { ...joinedObservers([progress, verbose]), stop: () => progress.stop() };
    },
  };
}

/** Number of the plan's requests that this shard sends. */
function partOf(requests: number | null, { shard }: RunRequest): number | null {
  return requests === null || shard === null ? requests : shareOf(requests, shard.share);
}

interface Shown {
  readonly isMember: boolean;
  readonly isQuiet: boolean;
  /** The Grafana that the run is linked to. */
  readonly grafana: string | null;
  readonly withServers: boolean;
  /** The shards merge the run themselves. */
  readonly isMerged: boolean;
}

async function show(
  { result, failure, path, notes }: PerformedRun,
  { shard, runsDirectory }: RunRequest,
  { isMember, isQuiet, grafana, withServers, isMerged }: Shown,
): Promise<void> {
  const print = printing();
  if (!isQuiet && isMember) process.stdout.write(`${memberLine(result)}\n`);
  if (!isQuiet && !isMember) {
    const mark = shard === null ? '' : shardMark(shard.share);
    const head = `run         ${result.run_id}  ${print.paint(result.status)}${mark}`;
    const links = await linkLines(result, { path, runsDirectory, grafana });
    process.stdout.write(`\n${head}\n${resultTable(result, print)}\n`);
    if (withServers) await (await import('../print-servers.ts')).printServers(path, print.width);
    process.stdout.write(`${links.join('\n')}\n`);
    if (shard !== null && !isMerged) process.stdout.write(`${mergeLine(result.run_id, runsDirectory)}\n`);
  }
  for (const note of notes) writeMessage(process.stderr, note);
  if (failure !== null) writeMessage(process.stderr, `llmbench run: ${failure}`);
}

/** Final output: the JSON of one or several runs, or a table over several. */
async function showAll(runs: readonly GroupRun[], several: boolean, options: RunOptions): Promise<void> {
  const [only] = runs;
  if (only === undefined) return;
  if (options.json) {
    const shown = several ? groupResult(runs) : only.performed.result;
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  } else if (several) {
    const { showGroup } = await import('./show-group.ts');
    await showGroup(runs, options['runs-dir'], process.stdout.columns);
  }
}

function exitCodeOf(runs: readonly GroupRun[], controls: RunControls, failUndecided: boolean): number {
  if (controls.draining.aborted) return ExitCode.interrupted;
  const results = runs.map(({ performed }) => performed.result);
  if (results.some(({ status }) => status !== 'completed')) return ExitCode.failed;
  const fails = (verdict: ObjectiveResult['verdict']): boolean =>
    verdict === 'not_met' || (failUndecided && verdict === 'undecided');
  const missed = results.some(({ slos }) => slos.some(({ verdict }) => fails(verdict)));
  return missed ? ExitCode.gate : ExitCode.done;
}

/** Turns expected failures into one line; anything else keeps its stack trace. */
function explained(error: unknown, controls: RunControls, json: boolean): unknown {
  const refused = [ConfigurationError, RefusedError, RunsDirectoryError, ListenError, NoStartError, StorageError].some(
    (kind) => error instanceof kind,
  );
  if (refused) return new CliError((error as Error).message);
  if (error instanceof WorkerError) return new CliError(error.message, ExitCode.failed);
  if (error instanceof ProbeError) {
    return new CliError(error.message, controls.draining.aborted ? ExitCode.interrupted : ExitCode.failed);
  }
  if (error instanceof RunNotStoredError) {
    // With --json it is part of the combined output.
    if (!json) process.stdout.write(resultTable(error.result, printing()));
    return new CliError(error.message, ExitCode.failed);
  }
  return error;
}
