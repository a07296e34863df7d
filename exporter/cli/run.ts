import { RunControls } from '../bench/run-controls.ts';
import { monotonicNow_ns } from '../bench/monotonic-clock.ts';
import { ProbeError } from '../bench/probe.ts';
import { ListenError } from '../http/listen.ts';
import { parseTarget } from '../bench/target.ts';
import { performRun, type PerformedRun, type RunReporter } from '../run/perform-run.ts';
import { checkLoadIsMeant, RefusedError } from '../run/refusal.ts';
import type { RunRequest } from '../run/run-request.ts';
import { RunNotStoredError, RunsDirectoryError } from '../store/store-errors.ts';
import { CliError, ExitCode } from './failure.ts';
import { asksForHelp, helpText, readOptions } from './options.ts';
import { Progress } from './progress.ts';
import { resultTable } from './result-table.ts';
import { RUN_EXAMPLES, RUN_OPTIONS, runRequest } from './run-options.ts';
import { VERSION } from './version.ts';

export async function run(argv: readonly string[]): Promise<number> {
  if (asksForHelp(argv)) {
    const usage =
      'llmbench run --url URL --model NAME --concurrency N (--request-count N | --benchmark-duration S) [options]';
    process.stdout.write(helpText(usage, RUN_OPTIONS, RUN_EXAMPLES));
    return ExitCode.done;
  }
  const options = readOptions(RUN_OPTIONS, argv, process.env);
  const request = runRequest(options, process.env);
  const controls = new RunControls();
  const release = stopOnSignals(controls);
  try {
    refuseUnmeantLoad(request, options.yes);
    const performed = await performRun(request, controls, reporter(request), VERSION);
    show(performed, options.json);
    return exitCodeOf(performed, controls);
  } catch (error) {
    throw explained(error, controls, options.json);
  } finally {
    release();
  }
}

function refuseUnmeantLoad(request: RunRequest, confirmed: boolean): void {
  const { origin } = parseUrl(request.url);
  checkLoadIsMeant(origin, request.concurrency, confirmed);
}

function parseUrl(url: string): { origin: string } {
  try {
    return parseTarget(url, '/v1/chat/completions');
  } catch (error) {
    throw new CliError(`--url: ${(error as Error).message}`);
  }
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
    observe: (epoch) => {
      const plan = {
        warmupRequests: request.warmupRequestCount,
        requestCount: request.requestCount,
        durationSeconds: request.durationSeconds,
      };
      return new Progress(plan, process.stderr, () => monotonicNow_ns() - epoch.monotonic_ns);
    },
  };
}

function show({ result, failure, path, notes }: PerformedRun, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } else {
    process.stdout.write(`\nrun         ${result.run_id}  ${result.status}\n${resultTable(result)}\n${path}\n`);
  }
  for (const note of notes) process.stderr.write(`${note}\n`);
  if (failure !== null) process.stderr.write(`llmbench run: ${failure}\n`);
}

function exitCodeOf({ result }: PerformedRun, controls: RunControls): number {
  if (controls.draining.aborted) return ExitCode.interrupted;
  return result.status === 'failed' ? ExitCode.failed : ExitCode.done;
}

/** Failures that were foreseen say what to do in one line; anything else keeps its stack. */
function explained(error: unknown, controls: RunControls, json: boolean): unknown {
  const refused = [RefusedError, RunsDirectoryError, ListenError].some((kind) => error instanceof kind);
  if (refused) return new CliError((error as Error).message);
  if (error instanceof ProbeError) {
    return new CliError(error.message, controls.draining.aborted ? ExitCode.interrupted : ExitCode.failed);
  }
  if (error instanceof RunNotStoredError) {
    process.stdout.write(json ? `${JSON.stringify(error.result, null, 2)}\n` : resultTable(error.result));
    return new CliError(error.message, ExitCode.failed);
  }
  return error;
}
