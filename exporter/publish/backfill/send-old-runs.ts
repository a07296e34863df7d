import type { TimedSeries } from '../remote-write/finished-series.ts';
import type { Receiver } from '../remote-write/receiver.ts';
import type { Delayed } from '../remote-write/sender.ts';
import { startSending } from '../remote-write/sending.ts';
import type { BackfillPart } from './backfill-part.ts';
import type { OldRun } from './old-runs.ts';

export interface SendOldRunsOptions {
  readonly runsDirectory: string;
  readonly receiver: Receiver;
  readonly version: string;
  /** How long one run, or one part of the verdicts, may take. */
  readonly secondsPerRun: number;
  readonly problem: (line: string) => void;
  /** Receives why the receiver accepts nothing, and for how many seconds it will be tried again. */
  readonly delayed: Delayed;
}

/** Numbers of samples. */
export interface SentSamples {
  readonly written: number;
  readonly dropped: number;
  /** Of the run or part at which the receiver did not answer; later ones were not tried. */
  readonly waiting: number;
}

export interface SentOldRuns extends SentSamples {
  readonly runs: number;
}

const MAX_QUEUE_BYTES = 1e9;

/** Sends runs with their true times, one after the other, until the receiver does not answer any more. */
export async function sendOldRuns(runs: AsyncIterable<OldRun>, options: SendOldRunsOptions): Promise<SentOldRuns> {
  let total = NOTHING;
  let count = 0;
  for await (const { finished, series } of runs) {
    total = await sent(total, series, { runId: finished.run.run_id, shard: 'backfill' }, options);
    count += 1;
    if (total.waiting > 0) break;
  }
  return { ...total, runs: count };
}

/** Sends verdicts with their true times, likewise. */
export async function sendVerdicts(parts: Iterable<BackfillPart>, options: SendOldRunsOptions): Promise<SentSamples> {
  let total = NOTHING;
  for (const { series, start_ms } of parts) {
    total = await sent(total, series, { runId: 'verdicts', shard: `backfill-${start_ms}` }, options);
    if (total.waiting > 0) break;
  }
  return total;
}

const NOTHING: SentSamples = { written: 0, dropped: 0, waiting: 0 };

async function sent(
  total: SentSamples,
  series: readonly TimedSeries[],
  queue: { readonly runId: string; readonly shard: string },
  { runsDirectory, receiver, version, secondsPerRun, problem, delayed }: SendOldRunsOptions,
): Promise<SentSamples> {
  const own = { ...queue, maxQueueBytes: MAX_QUEUE_BYTES, customBuckets: false, forgetsDropped: true };
  const sending = startSending({ ...own, runsDirectory, receiver, version }, problem);
  series.forEach(({ layout, points }, number) => {
    sending.declare(number, layout);
    for (const point of points) sending.append(number, point);
  });
  const { written, rejected, lost, waiting } = await sending.finish(secondsPerRun, delayed);
  return {
    written: total.written + written,
    dropped: total.dropped + rejected + lost,
    waiting: total.waiting + waiting,
  };
}
