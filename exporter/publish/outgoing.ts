import { join } from 'node:path';
import type { RunFile } from '../../core/run/run.ts';
import type { RunEnding, RunOutput, RunEvents } from '../../core/run/run-output.ts';
import { unfinishedDirectory } from '../store/run-paths.ts';
import { reasonOf } from '../errors/expected-error.ts';
import type { LiveFamily } from './family.ts';
import { readFinishedRun, finishedRunFamilies, windowOf, type FinishedRun } from './finished-run.ts';
import { Annotator } from './grafana-annotations.ts';
import { readGrafanaAccess, type OutgoingRequest, type RemoteWriteRequest } from './outgoing-request.ts';
import { NativeLatencies } from './remote-write/native-latencies.ts';
import { readReceiver } from './remote-write/receiver.ts';
import { finishedSeries } from './remote-write/pushed-series.ts';
import { RemoteWritePublisher } from './remote-write/remote-write-publisher.ts';
import { RUN_INFO } from './run-info.ts';
import { RUN_TARGET_INFO } from './target-info.ts';

/** Wait for a receiver when the run is given up. */
const HURRIED_SECONDS = 1;

export interface OutgoingOptions {
  /** Null: no receiver. */
  readonly request: OutgoingRequest | null;
  readonly environment: NodeJS.ProcessEnv;
  readonly runsDirectory: string;
  /** As it is before its first request. */
  readonly run: RunFile;
  /** The live families. */
  readonly families: readonly LiveFamily[];
  /** False: other machines make parts of the run, so that this one's results are not the run's. */
  readonly isWhole: boolean;
  readonly version: string;
  /** Receives a line while the run waits for a receiver. */
  readonly say: (line: string) => void;
  /** Milliseconds since the epoch, of a clock that does not jump. */
  readonly now_ms: () => number;
}

/** Sends a live run to remote-write receivers and to Grafana. Never delays a request. */
export class Outgoing implements RunOutput {
  /** Gets the events of the run; null: no native histograms are sent. */
  readonly native: RunEvents | null;
  readonly #options: OutgoingOptions;
  readonly #publisher: RemoteWritePublisher | null;
  readonly #annotator: Annotator | null;

  private constructor(
    options: OutgoingOptions,
    native: RunEvents | null,
    publisher: RemoteWritePublisher | null,
    annotator: Annotator | null,
  ) {
    this.#options = options;
    this.native = native;
    this.#publisher = publisher;
    this.#annotator = annotator;
  }

  /** Throws a `ConfigurationError` when a secret or a file that the request names is not available. */
  static async open(options: OutgoingOptions): Promise<Outgoing> {
    const { request, environment, run } = options;
    const remoteWrite = request?.remoteWrite ?? null;
    const grafana = request?.grafana ?? null;
    const access = grafana && (await readGrafanaAccess(grafana, environment));
    const native =
      remoteWrite?.nativeHistograms === 'exponential'
        ? new NativeLatencies({ run_id: run.run_id, shard: run.shard })
        : null;
    const publisher = remoteWrite && (await openPublisher(options, remoteWrite, native));
    // One shard speaks for the run.
    const annotator = access && run.shard === '0' ? new Annotator(access, grafana?.dashboardUid ?? null) : null;
    return new Outgoing(options, native, publisher, annotator);
  }

  /** Before the first request. */
  begin(): void {
    this.#publisher?.begin();
    this.#annotator?.begin(this.#options.run);
  }

  /** After the last request, when the live metrics have their last values. */
  end(): void {
    this.#publisher?.end();
  }

  /**
   * When the files of the run are written: sends its results and waits until all is taken, for a limited time. Gives
   * lines to be reported.
   */
  async finish({ hurried }: RunEnding): Promise<readonly string[]> {
    if (this.#publisher === null && this.#annotator === null) return [];
    const { runsDirectory, run } = this.#options;
    const folder = join(unfinishedDirectory(runsDirectory), run.run_id);
    const finished = await readFinishedRun(folder).catch((error: unknown) => reasonOf(error));
    if (typeof finished === 'string')
      return [`the run's results are not sent: ${finished}`, ...(await this.#flushed(hurried))];
    this.#publishResults(finished);
    const [sent, annotated = []] = await Promise.all([
      this.#flushed(hurried),
      this.#annotator?.finish(finished.run, finished.result),
    ]);
    return [...sent, ...annotated];
  }

  /** Ends whatever was begun, also when the run failed in between. */
  async close(): Promise<void> {
    await this.#publisher?.finish(HURRIED_SECONDS);
    await this.#annotator?.close();
  }

  async #flushed(hurried: boolean): Promise<readonly string[]> {
    if (this.#publisher === null) return [];
    return hurried ? this.#publisher.finish(HURRIED_SECONDS) : this.#publisher.finish();
  }

  #publishResults(finished: FinishedRun): void {
    const window = windowOf(finished);
    if (window === null || !this.#options.isWhole) return;
    // The live families have said what the run is and what it reads.
    const said: readonly string[] = [RUN_INFO.name, RUN_TARGET_INFO.name];
    const families = finishedRunFamilies(finished).filter(({ name }) => !said.includes(name));
    this.#publisher?.publish(finishedSeries(families, window, this.#options.request?.remoteWrite?.labels ?? {}));
  }
}

/** Whether what a request names is available, before anything is sent. Throws a `ConfigurationError`. */
export async function checkOutgoing(request: OutgoingRequest | null, environment: NodeJS.ProcessEnv): Promise<void> {
  const { remoteWrite = null, grafana = null } = request ?? {};
  if (remoteWrite !== null) await readReceiver(remoteWrite.receiver, environment);
  if (grafana !== null) await readGrafanaAccess(grafana, environment);
}

async function openPublisher(
  { environment, runsDirectory, run, families, version, say, now_ms }: OutgoingOptions,
  request: RemoteWriteRequest,
  native: NativeLatencies | null,
): Promise<RemoteWritePublisher> {
  return RemoteWritePublisher.open({
    runsDirectory,
    runId: run.run_id,
    shard: run.shard,
    receiver: await readReceiver(request.receiver, environment),
    version,
    maxQueueBytes: request.maxQueueBytes,
    customBuckets: request.nativeHistograms === 'custom',
    intervalSeconds: request.intervalSeconds,
    ...{ flushSeconds: request.flushSeconds, say },
    live: {
      families,
      native: native?.sources ?? [],
      extraLabels: request.labels,
      created_ms: run.start === null ? null : Date.parse(run.start),
    },
    now_ms,
  });
}
