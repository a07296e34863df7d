import type { FamilyInput } from '../../../core/exposition/index.ts';
import { createRunId } from '../../../core/run/run-id.ts';
import { reasonOf } from '../../errors/expected-error.ts';
import { publicUrl } from '../../http-client/public-url.ts';
import { layoutOf, valuesOf, type PointMessage, type SeriesLayout } from './pushed-series.ts';
import type { Receiver } from './receiver.ts';
import { startSending, type Sending } from './sending.ts';

/** What a writer of states needs of a queue. */
export interface StateSink {
  declare(number: number, layout: SeriesLayout): void;
  append(layout: number, point: PointMessage): void;
}

/**
 * Writes gauges that hold between two writes. A receiver shows a series for five minutes after its newest sample, so a
 * state that is to hold is written again and again; a series that is no longer part of it is ended.
 */
export class StateWriter {
  readonly #sink: StateSink;
  readonly #extraLabels: Readonly<Record<string, string>>;
  #layouts = 0;
  #current: { readonly number: number; readonly text: string } | null = null;
  #last_ms = 0;

  constructor(sink: StateSink, extraLabels: Readonly<Record<string, string>>) {
    this.#sink = sink;
    this.#extraLabels = extraLabels;
  }

  /** Writes the state at this time, milliseconds since the epoch; a clock that was set back does not go back here. */
  write(families: readonly FamilyInput[], time_ms: number): void {
    const layout = layoutOf(families, this.#extraLabels, null);
    const text = JSON.stringify(layout);
    const at = this.#after(time_ms);
    if (text !== this.#current?.text) {
      this.#end(at - 1);
      this.#layouts += 1;
      this.#current = layout.series.length === 0 ? null : { number: this.#layouts, text };
      if (this.#current !== null) this.#sink.declare(this.#layouts, layout);
    }
    if (this.#current === null) return;
    this.#sink.append(this.#current.number, { time_ms: at, values: valuesOf(families), native: [] });
  }

  /** Ends every series: what they said is not known any more. */
  end(time_ms: number): void {
    this.#end(this.#after(time_ms));
    this.#current = null;
  }

  #end(time_ms: number): void {
    if (this.#current === null) return;
    this.#sink.append(this.#current.number, { time_ms, values: null, native: null });
  }

  /** Two milliseconds, so that the end of a series fits before its next sample. */
  #after(time_ms: number): number {
    this.#last_ms = Math.max(this.#last_ms + 2, Math.round(time_ms));
    return this.#last_ms;
  }
}

export interface ScenarioPushOptions {
  readonly runsDirectory: string;
  readonly receiver: Receiver;
  readonly version: string;
  /** Added to every series. */
  readonly extraLabels: Readonly<Record<string, string>>;
  /** Reads the series of the scenarios as they are now. */
  readonly read: () => Promise<readonly FamilyInput[]>;
  /** Receives lines for people, each once as long as nothing else happens. */
  readonly say: (line: string) => void;
}

/** Under this name and a unique one samples of scenarios wait in the queue on disk. */
const QUEUE = 'verdicts';
/** Of samples that wait; a day of verdicts on some hundred scenarios. */
const MAX_QUEUE_BYTES = 64_000_000;

/** Writes the series of the scenarios once, as far as the receiver answers in time; the rest waits on disk for `push`. */
export async function pushScenariosOnce(options: ScenarioPushOptions, seconds: number): Promise<void> {
  const { receiver, extraLabels, say } = options;
  const families = await options.read();
  const sending = open(options, new Set());
  new StateWriter(sending, extraLabels).write(families, Date.now());
  const { waiting, trouble, rejected, lost } = await sending.finish(seconds);
  const url = publicUrl(receiver.url);
  if (rejected + lost > 0) say(`remote write: ${rejected + lost} samples of the verdict were dropped`);
  if (waiting > 0) {
    say(
      `remote write: ${waiting} samples of the verdict wait on disk${trouble === null ? '' : ` (${trouble})`}; ` +
        `\`llmbench push --remote-write-url ${url}\` with the same --runs-dir sends them`,
    );
  }
}

/** Writes the series of the scenarios at an interval until it is stopped, so that they hold in the receiver. */
export class ScenarioPusher {
  readonly #options: ScenarioPushOptions;
  readonly #sending: Sending;
  readonly #writer: StateWriter;
  readonly #timer: NodeJS.Timeout;
  readonly #said = new Set<string>();
  #writing: Promise<void>;

  /** The first write is immediate. */
  constructor(options: ScenarioPushOptions, intervalSeconds: number) {
    this.#options = options;
    this.#sending = open(options, this.#said);
    this.#writer = new StateWriter(this.#sending, options.extraLabels);
    this.#writing = this.#write();
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(() => this.#write());
    }, intervalSeconds * 1000).unref();
  }

  /** Ends the series, and waits for the receiver at most this many seconds; what is left waits on disk. */
  async stop(seconds: number): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    this.#writer.end(Date.now());
    const { waiting } = await this.#sending.finish(seconds);
    if (waiting > 0) this.#options.say(`remote write: ${waiting} samples of the verdicts wait on disk`);
  }

  async #write(): Promise<void> {
    try {
      this.#writer.write(await this.#options.read(), Date.now());
    } catch (error) {
      this.#sayOnce(`remote write: the verdicts cannot be read: ${reasonOf(error)}`);
    }
    const { trouble } = this.#sending;
    if (trouble === null) this.#said.clear();
    else this.#sayOnce(`remote write: the verdicts wait on disk: ${trouble}`);
  }

  #sayOnce(line: string): void {
    if (this.#said.has(line)) return;
    this.#said.add(line);
    this.#options.say(line);
  }
}

function open({ runsDirectory, receiver, version, say }: ScenarioPushOptions, said: Set<string>): Sending {
  const own = { runId: QUEUE, shard: createRunId(new Date()), maxQueueBytes: MAX_QUEUE_BYTES, customBuckets: false };
  return startSending({ runsDirectory, receiver, version, ...own }, (problem) => {
    const line = `remote write: ${problem}`;
    if (!said.has(line)) say(line);
    said.add(line);
  });
}
