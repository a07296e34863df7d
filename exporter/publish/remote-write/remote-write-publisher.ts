import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { publicUrl } from '../../http-client/public-url.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import { delayText } from './receiver.ts';
import {
  FINAL_VALUE_HELD_MS,
  STALE_AFTER_MS,
  type TimedSeries,
  labelPairs,
  type PointExemplar,
  type PushedSeries,
  type SeriesLayout,
} from './pushed-series.ts';
import type { SendingOptions, SendingSummary, FromWorker, ToWorker } from './sending.ts';
import type { Exemplar, SampleInput } from '../../../core/exposition/index.ts';
import type { NativeHistogram } from '../../../core/histogram/native-histogram.ts';
import type { LiveFamily } from '../family.ts';

interface PublisherOptions extends SendingOptions {
  /** Seconds between two points while the run goes on. */
  readonly intervalSeconds: number;
  /** How long `finish` waits for the receiver. */
  readonly flushSeconds: number;
  /** Receives a line when `finish` has to wait for longer than a moment. */
  readonly say: (line: string) => void;
  /** The source that is read at each point. */
  readonly live: FamilySamplerOptions;
  /** Milliseconds since the epoch, from a clock without jumps. */
  readonly now_ms: () => number;
}

/** A shorter wait ends soon, with a line that says what was sent. */
const LONG_WAIT_SECONDS = 8;

/**
 * Sends one shard of one run to a receiver while the run is running. The measuring thread only reads the numbers; a
 * worker thread encodes, stores and sends them. Failures of the receiver or the disk never throw: `finish` reports them
 * as lines.
 */
export class RemoteWritePublisher {
  readonly #options: PublisherOptions;
  readonly #worker: Worker;
  readonly #live: FamilySampler;
  readonly #problems: string[] = [];
  readonly #ready: Promise<void>;
  readonly #finished: Promise<SendingSummary | null>;
  #layouts = 0;
  #liveLayout = 0;
  #last_ms = 0;
  #timer: NodeJS.Timeout | null = null;
  #ended = false;
  #lines: Promise<readonly string[]> | null = null;

  private constructor(options: PublisherOptions, worker: Worker) {
    this.#options = options;
    this.#live = new FamilySampler(options.live);
    this.#worker = worker;
    this.#ready = new Promise((resolve) => void worker.once('message', () => resolve()));
    this.#finished = new Promise((resolve) => {
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'problem') this.#problems.push(message.line);
        else if (message.kind === 'delayed') this.#sayDelay(message.reason, message.seconds);
        else if (message.kind === 'finished') resolve(message.summary);
      });
      worker.on('error', (error) => {
        this.#problems.push(`the sending thread failed: ${reasonOf(error)}`);
        resolve(null);
      });
      worker.on('exit', () => resolve(null));
    });
  }

  /** Resolves when the thread is loaded, so that its startup does not overlap the run. */
  static async open(options: PublisherOptions): Promise<RemoteWritePublisher> {
    const { runsDirectory, runId, shard, receiver, version, maxQueueBytes, customBuckets } = options;
    const own = { runId, shard, receiver, version, maxQueueBytes, customBuckets };
    const workerData: SendingOptions = { runsDirectory, ...own };
    // The entry is a source file in a checkout and compiled in a package: it has the extension of this file.
    const entry = new URL(`./remote-write-worker${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(entry, { workerData, execArgv: [] });
    const publisher = new RemoteWritePublisher(options, worker);
    await Promise.race([publisher.#ready, publisher.#finished]);
    worker.unref();
    return publisher;
  }

  /** Before the first request: every series starts at its first value, 0. Sampling starts. */
  begin(): void {
    this.#point();
    this.#timer = setInterval(() => this.#point(), this.#options.intervalSeconds * 1000).unref();
  }

  /** After the last request: the last values, the same again later, and the end of the series. */
  end(): void {
    if (this.#timer === null || this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    const time_ms = this.#now();
    const reading = this.#live.read();
    this.#liveLayout = this.#declared(reading, this.#liveLayout);
    this.#postPoint(this.#liveLayout, reading, time_ms);
    this.#postPoint(this.#liveLayout, { ...reading, exemplars: [] }, time_ms + FINAL_VALUE_HELD_MS);
    const end = { time_ms: time_ms + STALE_AFTER_MS, values: null, native: null };
    this.#post({ kind: 'point', layout: this.#liveLayout, point: end });
  }

  /** Series that are known only at the end. */
  publish(series: readonly TimedSeries[]): void {
    for (const { layout, points } of series) {
      const number = ++this.#layouts;
      this.#post({ kind: 'layout', number, layout });
      for (const point of points) this.#post({ kind: 'point', layout: number, point });
    }
  }

  /**
   * Waits for the receiver within the configured limit and returns lines for the user. A second call returns the same.
   */
  finish(seconds: number = this.#options.flushSeconds): Promise<readonly string[]> {
    this.#lines ??= this.#finish(seconds);
    return this.#lines;
  }

  async #finish(seconds: number): Promise<readonly string[]> {
    this.end();
    this.#worker.ref();
    this.#post({ kind: 'finish', seconds });
    const summary = await this.#finished;
    await this.#worker.terminate();
    return [...this.#problems.map((line) => `remote write: ${line}`), ...this.#summaryLines(summary)];
  }

  #sayDelay(reason: string, seconds: number): void {
    if (seconds >= LONG_WAIT_SECONDS) this.#options.say(delayText(reason, seconds));
  }

  #summaryLines(summary: SendingSummary | null): string[] {
    const url = publicUrl(this.#options.receiver.url);
    if (summary === null) return [];
    const { written, rejected, lost, waiting, trouble, earlier } = summary;
    const dropped = rejected + lost;
    return [
      `remote write: ${written} samples written to ${url}` +
        (dropped > 0 ? `, ${dropped} dropped` : '') +
        (earlier > 0 ? `, and ${earlier} of earlier runs` : ''),
      ...(waiting > 0
        ? [
            `remote write: ${waiting} samples wait on disk${trouble === null ? '' : ` (${trouble})`}; ` +
              `\`llmbench push --remote-write-url ${url}\` with the same --runs-dir sends them`,
          ]
        : []),
    ];
  }

  #point(): void {
    const reading = this.#live.read();
    this.#liveLayout = this.#declared(reading, this.#liveLayout);
    this.#postPoint(this.#liveLayout, reading, this.#now());
  }

  /** The number of the reading's layout, which is declared first if it is new. */
  #declared({ layout }: FamilyReading, number: number): number {
    if (layout === null) return number;
    this.#layouts += 1;
    this.#post({ kind: 'layout', number: this.#layouts, layout });
    return this.#layouts;
  }

  #postPoint(layout: number, { values, native, exemplars }: FamilyReading, time_ms: number): void {
    const point = { time_ms, values, native, ...(exemplars.length === 0 ? {} : { exemplars }) };
    this.#post({ kind: 'point', layout, point });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  /** Never the same millisecond twice: a series has one value per timestamp. */
  #now(): number {
    this.#last_ms = Math.max(this.#last_ms + 1, Math.round(this.#options.now_ms()));
    return this.#last_ms;
  }
}

/** A native histogram that is read for each point. */
export interface NativeSource {
  /** Name of its family. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  histogram(): NativeHistogram;
}

/** The values of all series, and their layout if it differs from that of the previous point. */
interface FamilyReading {
  readonly layout: SeriesLayout | null;
  readonly values: Float64Array;
  readonly native: readonly NativeHistogram[];
  /** Those that the previous point did not have. */
  readonly exemplars: readonly PointExemplar[];
}

interface FamilySamplerOptions {
  readonly families: readonly LiveFamily[];
  readonly native?: readonly NativeSource[];
  /** Added to every series; a label of the family with the same name takes precedence. */
  readonly extraLabels: Readonly<Record<string, string>>;
  readonly created_ms: number | null;
}

/**
 * Reads families as rows of numbers. The layout of the series is returned once, and again if a family gains or loses
 * series. Samples without a run_id are left out: they belong to this process, not to the run.
 */
export class FamilySampler {
  readonly #options: FamilySamplerOptions;
  #sizes: readonly number[] | null = null;
  #known: ReadonlySet<Exemplar> = new Set();

  constructor(options: FamilySamplerOptions) {
    this.#options = options;
  }

  read(): FamilyReading {
    const samples = this.#options.families.map((family) => family.samples().filter(isOfRun));
    const sizes = samples.map(({ length }) => length);
    const isNew = this.#sizes === null || sizes.some((size, i) => size !== this.#sizes?.[i]);
    this.#sizes = sizes;
    const values = new Float64Array(sizes.reduce((sum, size) => sum + size, 0));
    const exemplars: PointExemplar[] = [];
    const known = new Set<Exemplar>();
    let at = 0;
    for (const family of samples) {
      for (const { value, exemplar } of family) {
        if (exemplar !== undefined) known.add(exemplar);
        if (exemplar !== undefined && !this.#known.has(exemplar)) exemplars.push(pointExemplar(exemplar, at));
        values[at++] = value;
      }
    }
    this.#known = known;
    return {
      layout: isNew ? this.#layout(samples) : null,
      values,
      native: (this.#options.native ?? []).map((source) => source.histogram()),
      exemplars,
    };
  }

  #layout(samples: readonly (readonly SampleInput[])[]): SeriesLayout {
    const { families, native = [], extraLabels, created_ms } = this.#options;
    const series = (family: number, name: string, labels: Readonly<Record<string, string>>): PushedSeries => ({
      family,
      labels: labelPairs(name, { ...extraLabels, ...labels }),
    });
    return {
      families: families.map(({ name, help, type }) => ({ name, help, type })),
      series: samples.flatMap((of, i) =>
        of.map(({ metricName, labels, sharedLabels }) =>
          series(i, metricName ?? families[i]?.name ?? '', { ...sharedLabels, ...labels }),
        ),
      ),
      nativeSeries: native.map(({ name, labels }) =>
        series(
          families.findIndex((family) => family.name === name),
          name,
          labels,
        ),
      ),
      created_ms,
    };
  }
}

const pointExemplar = ({ labels, value, timestampSeconds }: Exemplar, series: number): PointExemplar => ({
  series,
  labels,
  value,
  time_ms: Math.round((timestampSeconds ?? 0) * 1e3),
});

const isOfRun = ({ labels, sharedLabels }: SampleInput): boolean =>
  labels['run_id'] !== undefined || sharedLabels?.['run_id'] !== undefined;
