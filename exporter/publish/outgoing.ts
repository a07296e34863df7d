import { join } from 'node:path';
import type { FamilyInput } from '../../core/exposition/index.ts';
import type { RunFile } from '../../core/run/run.ts';
import type { RunEnding, RunOutput, RunEvents } from '../../core/run/run-output.ts';
import { unfinishedDirectory } from '../store/run-paths.ts';
import { reasonOf } from '../errors/expected-error.ts';
import type { LiveFamily } from './family.ts';
import { readFinishedRun, finishedRunFamilies, windowOf, type FinishedRun } from './finished-run.ts';
import type { Annotator, GrafanaAccess } from './grafana-annotations.ts';
import { readGrafanaAccess, type OutgoingRequest, type RemoteWriteRequest } from './outgoing-request.ts';
import { checkOtlp, OtlpPublisher } from './otlp/otlp-publisher.ts';
import { NativeLatencies } from './remote-write/native-latencies.ts';
import { readReceiver } from './remote-write/receiver.ts';
import { finishedSeries } from './remote-write/pushed-series.ts';
import type { RemoteWritePublisher } from './remote-write/remote-write-publisher.ts';
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

/** Sends a live run to receivers of remote write and of OpenTelemetry, and to Grafana. Never delays a request. */
export class Outgoing implements RunOutput {
  /** They get the events of the run. */
  readonly receivers: readonly RunEvents[];
  readonly #options: OutgoingOptions;
  readonly #publisher: RemoteWritePublisher | null;
  readonly #annotator: Annotator | null;
  readonly #otlp: OtlpPublisher | null;

  private constructor(options: OutgoingOptions, native: RunEvents | null, destinations: Destinations) {
    const { publisher, annotator, otlp } = destinations;
    this.#options = options;
    this.receivers = [native, otlp?.genAi ?? null].filter((receiver) => receiver !== null);
    this.#publisher = publisher;
    this.#annotator = annotator;
    this.#otlp = otlp;
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
    const annotator = access && run.shard === '0' ? await openAnnotator(access, grafana?.dashboardUid ?? null) : null;
    const otlp = request?.otlp == null ? null : await OtlpPublisher.open({ ...options, request: request.otlp });
    return new Outgoing(options, native, { publisher, annotator, otlp });
  }

  /** Before the first request. */
  begin(): void {
    this.#publisher?.begin();
    this.#annotator?.begin(this.#options.run);
    this.#otlp?.begin();
  }

  /** After the last request, when the live metrics have their last values. */
  end(): void {
    this.#publisher?.end();
    this.#otlp?.end();
  }

  /**
   * When the files of the run are written: sends its results and waits until all is taken, for a limited time. Gives
   * lines to be reported.
   */
  async finish(ending: RunEnding): Promise<readonly string[]> {
    const { hurried } = ending;
    if (this.#publisher === null && this.#annotator === null && this.#otlp === null) return [];
    const { runsDirectory, run } = this.#options;
    const folder = join(unfinishedDirectory(runsDirectory), run.run_id);
    const finished = await readFinishedRun(folder).catch((error: unknown) => reasonOf(error));
    if (typeof finished === 'string')
      return [`the run's results are not sent: ${finished}`, ...(await this.#flushed(hurried))];
    const results = this.#options.isWhole ? finishedRunFamilies(finished) : [];
    this.#publishResults(finished, results);
    const lines = await Promise.all([
      this.#flushed(hurried),
      this.#annotator?.finish(finished.run, finished.result) ?? [],
      this.#otlp?.publish(results.filter(isNew), ending) ?? [],
    ]);
    return lines.flat();
  }

  /** Ends whatever was begun, also when the run failed in between. */
  async close(): Promise<void> {
    await this.#publisher?.finish(HURRIED_SECONDS);
    await this.#annotator?.close();
    await this.#otlp?.close();
  }

  async #flushed(hurried: boolean): Promise<readonly string[]> {
    if (this.#publisher === null) return [];
    return hurried ? this.#publisher.finish(HURRIED_SECONDS) : this.#publisher.finish();
  }

  #publishResults(finished: FinishedRun, results: readonly FamilyInput[]): void {
    const window = windowOf(finished);
    if (window === null || results.length === 0) return;
    const labels = this.#options.request?.remoteWrite?.labels ?? {};
    this.#publisher?.publish(finishedSeries(results.filter(isNew), window, labels));
  }
}

interface Destinations {
  readonly publisher: RemoteWritePublisher | null;
  readonly annotator: Annotator | null;
  readonly otlp: OtlpPublisher | null;
}

/** The live families have said what the run is and what it reads. */
const isNew = ({ name }: FamilyInput): boolean => name !== RUN_INFO.name && name !== RUN_TARGET_INFO.name;

/** Whether what a request names is available, before anything is sent. Throws a `ConfigurationError`. */
export async function checkOutgoing(request: OutgoingRequest | null, environment: NodeJS.ProcessEnv): Promise<void> {
  const { remoteWrite = null, grafana = null, otlp = null } = request ?? {};
  if (remoteWrite !== null) await readReceiver(remoteWrite.receiver, environment);
  if (grafana !== null) await readGrafanaAccess(grafana, environment);
  if (otlp !== null) await checkOtlp(otlp);
}

// What sends is loaded where it is used: a run without it starts sooner.

async function openAnnotator(access: GrafanaAccess, dashboardUid: string | null): Promise<Annotator> {
  const { Annotator } = await import('./grafana-annotations.ts');
  return new Annotator(access, dashboardUid);
}

async function openPublisher(
  { environment, runsDirectory, run, families, version, say, now_ms }: OutgoingOptions,
  request: RemoteWriteRequest,
  native: NativeLatencies | null,
): Promise<RemoteWritePublisher> {
  const { RemoteWritePublisher } = await import('./remote-write/remote-write-publisher.ts');
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
