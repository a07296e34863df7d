import type { Receiver } from '../remote-write/receiver.ts';
import { startSending } from '../remote-write/sending.ts';
import type { OldRun } from './old-runs.ts';

export interface SendOldRunsOptions {
  readonly runsDirectory: string;
  readonly receiver: Receiver;
  readonly version: string;
  /** How long one run may take. */
  readonly secondsPerRun: number;
  readonly problem: (line: string) => void;
}

export interface SentOldRuns {
  readonly runs: number;
  readonly written: number;
  readonly dropped: number;
  /** Samples of the run at which the receiver was not there; later runs were not tried. */
  readonly waiting: number;
}

const MAX_QUEUE_BYTES = 1e9;

/** Sends runs with their true times, one after the other, until the receiver does not answer any more. */
export async function sendOldRuns(runs: AsyncIterable<OldRun>, options: SendOldRunsOptions): Promise<SentOldRuns> {
  const { runsDirectory, receiver, version, problem } = options;
  const total = { runs: 0, written: 0, dropped: 0, waiting: 0 };
  for await (const { finished, series } of runs) {
    const own = { runId: finished.run.run_id, shard: 'backfill', maxQueueBytes: MAX_QUEUE_BYTES, customBuckets: false };
    const sending = startSending({ ...own, runsDirectory, receiver, version }, problem);
    series.forEach(({ layout, points }, number) => {
      sending.declare(number, layout);
      for (const point of points) sending.append(number, point);
    });
    const { written, rejected, lost, waiting } = await sending.finish(options.secondsPerRun);
    total.runs += 1;
    total.written += written;
    total.dropped += rejected + lost;
    total.waiting += waiting;
    if (waiting > 0) break;
  }
  return total;
}
