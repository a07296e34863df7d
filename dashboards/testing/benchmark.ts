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

/** Runs one benchmark against the server and resolves when its final values have been scraped. */
export async function runBenchmark(url: string, runsFolder: string, seconds: number): Promise<FinishedRun> {
  const output = await runProgram(
    ...['run', '--url', url, '--model', 'sim-model', '--runs-dir', runsFolder, '--json'],
    ...['--concurrency', '8', '--benchmark-duration', String(seconds), '--warmup-request-count', '8'],
  );
  const result = JSON.parse(output) as RunResult;
  if (result.status !== 'completed') throw new Error(`the run is ${result.status}`);
  return {
    runId: result.run_id,
    startSeconds: Date.parse(result.window.start) / 1000,
    endSeconds: Date.parse(result.window.end) / 1000,
  };
}
