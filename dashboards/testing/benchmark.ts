import { runProgram } from './programs.ts';

/** A benchmark that ended, and the wall time of its measure phase. */
export interface FinishedRun {
  readonly runId: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

interface RunResult {
  readonly run_id: string;
  readonly status: string;
  readonly window: { readonly start: string; readonly end: string };
}

/**
 * Runs one benchmark of two stages against the server, with the metrics page of its GPUs, and resolves when its final values
 * have been scraped.
 */
export async function runBenchmark(
  url: string,
  gpusUrl: string,
  runsFolder: string,
  seconds: number,
): Promise<FinishedRun> {
  const output = await runProgram(
    ...['run', '--url', url, '--model', 'sim-model', '--runs-dir', runsFolder, '--json'],
    ...['--server-metrics', gpusUrl, '--gpu-hour-price', '2.5EUR'],
    // Prometheus finds a run some seconds after its start: the first stage has to be long.
    ...['--stages', `concurrency=8:${seconds * 0.75}s,concurrency=4:${seconds * 0.25}s`, '--warmup-request-count', '8'],
    // Decided by its value: a percentile of dependent requests may stay undecided on a busy machine.
    ...['--slo', 'time_to_first_token:mean<60s'],
  );
  const result = JSON.parse(output) as RunResult;
  if (result.status !== 'completed') throw new Error(`the run is ${result.status}`);
  return {
    runId: result.run_id,
    startSeconds: Date.parse(result.window.start) / 1000,
    endSeconds: Date.parse(result.window.end) / 1000,
  };
}

/** The scenario of the judged runs. */
export const JUDGED_SCENARIO = 'judged';
const BASELINE_RUNS = 5;

/** Runs short benchmarks, takes them as the baseline and judges another, so that the exporter has verdicts to publish. */
export async function judgeRuns(url: string, runsFolder: string): Promise<void> {
  const measured = [
    ...['run', '--url', url, '--model', 'sim-model', '--runs-dir', runsFolder, '--json', '--scenario', JUDGED_SCENARIO],
    ...['--concurrency', '4', '--request-count', '24', '--isl', '16', '--osl', '8'],
  ];
  await runProgram(...measured, '--num-profile-runs', String(BASELINE_RUNS));
  const runs = `scenario:${JUDGED_SCENARIO}`;
  await runProgram('baseline', 'accept', runs, '--runs-dir', runsFolder, '--reason', 'first runs');
  await runProgram(...measured);
  await runProgram('check', '--scenario', JUDGED_SCENARIO, '--runs-dir', runsFolder, '--json');
}
