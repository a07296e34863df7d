import { RunControls } from '../bench/run-controls.ts';
import { monotonicNow_ns } from '../bench/monotonic-clock.ts';
import { ProbeError } from '../bench/probe.ts';
import { ListenError } from '../http/listen.ts';
import { ConfigurationError } from '../bench/configuration-error.ts';
import { parseTargets } from '../bench/connection-options.ts';
import { shareOf } from '../bench/workers/share.ts';
import { WorkerError } from '../bench/workers/worker-load.ts';
import { performGroup } from '../run/perform-group.ts';
import { performRun, type PerformedRun, type RunReporter } from '../run/perform-run.ts';
import { checkOpenFiles, openFilesLimit } from '../run/open-files.ts';
import { checkLoadIsMeant, RefusedError } from '../run/refusal.ts';
import type { RunRequest } from '../run/run-request.ts';
import { RunNotStoredError, RunsDirectoryError } from '../store/store-errors.ts';
import { CliError, ExitCode } from './failure.ts';
import { sloLines } from './gate-lines.ts';
import { groupResult, groupTable, loadText, type GroupRun } from './group-table.ts';
import { asksForHelp, sectionedHelp } from './help-text.ts';
import { keptRun } from './kept-run.ts';
import { Progress } from './progress.ts';
import { resultTable } from './result-table.ts';
import { requestedRuns } from './requested-runs.ts';
import { RUN_HELP } from './run-options.ts';
import { SERVER_LISTS } from './server-options.ts';
import { mergeLine, shardMark } from './shard-lines.ts';
import { spreadLists } from './value-lists.ts';
import { VERSION } from './version.ts';

export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    process.stdout.write(sectionedHelp(RUN_HELP, argv));
    return ExitCode.done;
  }
  const { options, requests, steps } = await requestedRuns(spreadLists(argv, SERVER_LISTS), process.env);
  const controls = new RunControls();
  const release = stopOnSignals(controls);
  const runs: GroupRun[] = [];
  try {
    for (const request of requests) refuseUnmeantLoad(request, steps, options.yes);
    await performGroup(requests, controls, {
      cooldownSeconds: options['profile-run-cooldown-seconds'],
      announce: (number, request) =>
        void process.stderr.write(`\nrun ${number} of ${requests.length}: ${loadText(request)}\n`),
      perform: (request) => keptRun(runs, request, () => performRun(request, controls, reporter(request), VERSION)),
      finished: (performed, request) => show(performed, request, options.json),
    });
    return exitCodeOf(runs, controls);
  } catch (error) {
    throw explained(error, controls, options.json);
  } finally {
    showAll(runs, requests.length > 1, options.json);
    release();
  }
}

function refuseUnmeantLoad(request: RunRequest, steps: number, confirmed: boolean): void {
  checkOpenFiles(mostInFlight(request), openFilesLimit());
  if (request.traffic.connection.unixSocket !== null) return;
  for (const { origin } of parseTargets([request.url, ...request.traffic.moreUrls], ''))
    checkLoadIsMeant(origin, { concurrency: mostInFlight(request), steps }, confirmed);
}

/** Null when nothing limits the requests in flight. */
function mostInFlight({ load, fixedSchedule }: RunRequest): number | null {
  return load.rate === null && fixedSchedule === null ? (load.concurrency ?? 1) : load.concurrency;
}

/** Ctrl-C once: requests under way end and the run is written. Twice: they are cancelled and it is written. */
function stopOnSignals(controls: RunControls): () => void {
  const interrupted = (): void => {
    if (controls.draining.aborted) {
      controls.abort();
      return;
    }
    process.stderr.write('\nstopping: requests under way are finished first; Ctrl-C again cancels them\n');
    controls.drain();
  };
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  return () => {
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
  };
}

function reporter(request: RunRequest): RunReporter {
  return {
    say: (line) => void process.stderr.write(`${line}\n`),
    observe: (epoch, servers) => {
      const plan = {
        warmupRequests: partOf(request.warmup?.requestCount ?? null, request),
        warmupSeconds: request.warmup?.durationSeconds ?? null,
        requestCount: partOf(request.requestCount, request),
        durationSeconds: request.durationSeconds,
      };
      return new Progress(plan, process.stderr, () => monotonicNow_ns() - epoch.monotonic_ns, servers);
    },
  };
}

/** How many of a plan's requests are made here. */
function partOf(requests: number | null, { shard }: RunRequest): number | null {
  return requests === null || shard === null ? requests : shareOf(requests, shard.share);
}

function show(
  { result, failure, path, notes }: PerformedRun,
  { shard, runsDirectory }: RunRequest,
  json: boolean,
): void {
  if (!json) {
    const head = `run         ${result.run_id}  ${result.status}${shard === null ? '' : shardMark(shard.share)}`;
    const table = `${resultTable(result, process.stdout.columns)}${sloLines(result.slos)}`;
    process.stdout.write(`\n${head}\n${table}\n${path}\n`);
    if (shard !== null) process.stdout.write(`${mergeLine(result.run_id, runsDirectory)}\n`);
  }
  for (const note of notes) process.stderr.write(`${note}\n`);
  if (failure !== null) process.stderr.write(`llmbench run: ${failure}\n`);
}

/** What is told when all runs are over: the JSON of one or of several, or a table over several. */
function showAll(runs: readonly GroupRun[], several: boolean, json: boolean): void {
  const [only] = runs;
  if (only === undefined) return;
  if (json) {
    const shown = several ? groupResult(runs) : only.performed.result;
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  } else if (several) {
    process.stdout.write(`\ngroup       ${only.request.group?.group_id ?? ''}\n${groupTable(runs)}\n`);
  }
}

function exitCodeOf(runs: readonly GroupRun[], controls: RunControls): number {
  if (controls.draining.aborted) return ExitCode.interrupted;
  const results = runs.map(({ performed }) => performed.result);
  if (results.some(({ status }) => status !== 'completed')) return ExitCode.failed;
  const missed = results.some(({ slos }) => slos.some(({ verdict }) => verdict === 'not_met'));
  return missed ? ExitCode.gate : ExitCode.done;
}

/** Failures that were foreseen say what to do in one line; anything else keeps its stack. */
function explained(error: unknown, controls: RunControls, json: boolean): unknown {
  const refused = [ConfigurationError, RefusedError, RunsDirectoryError, ListenError].some(
    (kind) => error instanceof kind,
  );
  if (refused) return new CliError((error as Error).message);
  if (error instanceof WorkerError) return new CliError(error.message, ExitCode.failed);
  if (error instanceof ProbeError) {
    return new CliError(error.message, controls.draining.aborted ? ExitCode.interrupted : ExitCode.failed);
  }
  if (error instanceof RunNotStoredError) {
    // As JSON it is told with the others.
    if (!json) process.stdout.write(resultTable(error.result, process.stdout.columns));
    return new CliError(error.message, ExitCode.failed);
  }
  return error;
}
