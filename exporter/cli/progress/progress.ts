import { interTokenLatencySeconds } from '../../../core/measures/measures.ts';
import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { percentile } from '../../../core/stats/percentiles.ts';
import type { ServerLoadNow } from '../../servers/summary/load-now.ts';
import { canRedraw, writeMessage } from '../terminal-text.ts';
import { progressLine, progressLines, type ProgressState, type RecentLatency } from './progress-lines.ts';

const NS_PER_SECOND = 1e9;

/** Values kept per second: enough for a percentile on a live display. */
const MAX_PER_SECOND = 1024;

/** The values of the last seconds of a run, for a display; memory is bounded. */
export class RecentValues {
  readonly #seconds: number;
  readonly #kept = new Map<number, { seen: number; values: number[] }>();

  /** Keeps the values of this many whole seconds. */
  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** `at_ns` must be within the kept seconds or after them. */
  add(at_ns: number, value: number): void {
    const second = Math.floor(at_ns / NS_PER_SECOND);
    let bucket = this.#kept.get(second);
    if (bucket === undefined) {
      bucket = { seen: 0, values: [] };
      this.#kept.set(second, bucket);
      for (const old of this.#kept.keys()) if (old <= second - this.#seconds) this.#kept.delete(old);
    }
    bucket.seen += 1;
    if (bucket.values.length < MAX_PER_SECOND) bucket.values.push(value);
    // Each later one takes the place of an earlier one with the chance that keeps all equally likely.
    else if (Math.random() * bucket.seen < MAX_PER_SECOND) {
      bucket.values[Math.floor(Math.random() * MAX_PER_SECOND)] = value;
    }
  }

  /** Number of values in the last whole seconds, including the current one. */
  count(now_ns: number, seconds: number): number {
    return this.#last(now_ns, seconds).reduce((sum, bucket) => sum + (bucket?.seen ?? 0), 0);
  }

  /** A percentile over the last whole seconds, including the current one; null without values. */
  quantile(now_ns: number, seconds: number, q: number): number | null {
    const values = this.#last(now_ns, seconds).flatMap((bucket) => bucket?.values ?? []);
    return values.length === 0 ? null : percentile(Float64Array.from(values).sort(), q);
  }

  /** The median of each of the last whole seconds, the oldest first; null for those without values. */
  medians(now_ns: number, seconds: number): (number | null)[] {
    return this.#last(now_ns, seconds).map((bucket) =>
      bucket === undefined ? null : percentile(Float64Array.from(bucket.values).sort(), 0.5),
    );
  }

  clear(): void {
    this.#kept.clear();
  }

  #last(now_ns: number, seconds: number): ({ seen: number; values: number[] } | undefined)[] {
    const now = Math.floor(now_ns / NS_PER_SECOND);
    return Array.from({ length: seconds }, (_, i) => this.#kept.get(now - seconds + 1 + i));
  }
}

/** Percentiles and rates cover the last seconds, so that the display shows the present. */
const RECENT_SECONDS = 5;
/** Length of the trend. */
const TREND_SECONDS = 40;
const REDRAW_MS = 250;
const LOG_LINE_MS = 5_000;
const USUAL_COLUMNS = 120;

/** The parts of the plan that the display needs. */
export interface ProgressPlan {
  readonly warmupRequests: number | null;
  readonly warmupSeconds?: number | null;
  readonly requestCount: number | null;
  readonly durationSeconds: number | null;
}

/** Shows the progress of a run: updating lines on a terminal, periodic lines elsewhere. */
export class Progress implements RunEvents {
  readonly #plan: ProgressPlan;
  readonly #display: LiveLines;
  readonly #now_ns: () => number;
  readonly #servers: () => ServerLoadNow | null;
  readonly #timer: NodeJS.Timeout;
  readonly #firstTokens = new RecentValues(TREND_SECONDS);
  readonly #interToken = new RecentValues(TREND_SECONDS);
  /** Output tokens of each request that ended. */
  readonly #ended = new RecentValues(TREND_SECONDS);
  readonly #tokens = new Map<number, number>();
  readonly #failures = new Map<string, number>();
  #tokensKnown = true;
  #phase: PhaseName | null = null;
  #phaseStart_ns = 0;
  #inFlight = 0;
  /** Requests that ended, by phase: the cool-down begins before the measurement ends. */
  readonly #done: Record<PhaseName, number> = { warmup: 0, measure: 0, cooldown: 0 };
  /** Chunks with content and ended requests, and when their number was last seen to change. */
  #arrivals = 0;
  #seenArrivals = 0;
  #silentSince_ns = 0;

  /** `now_ns` is the run's monotonic clock: nanoseconds since its start; `servers` returns the current load of the servers. */
  constructor(
    plan: ProgressPlan,
    display: LiveLines,
    now_ns: () => number,
    servers: () => ServerLoadNow | null = () => null,
  ) {
    this.#plan = plan;
    this.#display = display;
    this.#now_ns = now_ns;
    this.#servers = servers;
    this.#timer = setInterval(() => this.#draw(), canRedraw(display.out) ? REDRAW_MS : LOG_LINE_MS);
    this.#timer.unref();
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    this.#phase = phase;
    this.#phaseStart_ns = this.#silentSince_ns = at_ns;
    this.#tokensKnown = true;
    this.#failures.clear();
    this.#tokens.clear();
    for (const recent of [this.#firstTokens, this.#interToken, this.#ended]) recent.clear();
  }

  requestSent(): void {
    this.#inFlight++;
  }

  chunkGap(): void {
    this.#arrivals++;
  }

  firstContent(_phase: PhaseName, sinceSent_ns: number): void {
    this.#arrivals++;
    this.#firstTokens.add(this.#now_ns(), sinceSent_ns / NS_PER_SECOND);
  }

  requestEnded(record: RequestRecord): void {
    const now = this.#now_ns();
    this.#inFlight--;
    this.#done[record.phase]++;
    this.#arrivals++;
    this.#ended.add(now, 1);
    if (record.reason !== null) this.#failures.set(record.reason, (this.#failures.get(record.reason) ?? 0) + 1);
    if (record.outcome !== 'ok') return;
    const latency = interTokenLatencySeconds(record);
    if (latency !== null) this.#interToken.add(now, latency);
    if (record.output_tokens === null) this.#tokensKnown = false;
    else this.#addTokens(Math.floor(now / NS_PER_SECOND), record.output_tokens);
  }

  /** Removes the display; lines printed to a log stay. */
  stop(): void {
    clearInterval(this.#timer);
    this.#display.clear();
  }

  #addTokens(second: number, tokens: number): void {
    this.#tokens.set(second, (this.#tokens.get(second) ?? 0) + tokens);
    for (const old of this.#tokens.keys()) if (old <= second - TREND_SECONDS) this.#tokens.delete(old);
  }

  #draw(): void {
    if (this.#phase === null) return;
    const state = this.#state(this.#phase);
    const { out } = this.#display;
    if (!canRedraw(out)) {
      this.#display.print(progressLine(state));
      return;
    }
    const columns = (out.columns || USUAL_COLUMNS) - 1;
    this.#display.draw(progressLines(state, columns).map((line) => line.slice(0, columns)));
  }

  #state(phase: PhaseName): ProgressState {
    const now = this.#now_ns();
    const elapsed = (now - this.#phaseStart_ns) / NS_PER_SECOND;
    const planned = this.#planned(phase);
    if (this.#arrivals !== this.#seenArrivals || this.#inFlight === 0) this.#silentSince_ns = now;
    this.#seenArrivals = this.#arrivals;
    // The current second is incomplete: the last five are four and a fraction.
    const span = Math.max(0.1, Math.min(elapsed, RECENT_SECONDS - 1 + ((now / NS_PER_SECOND) % 1)));
    return {
      phase,
      plannedRequests: planned.requests,
      plannedSeconds: planned.seconds,
      elapsedSeconds: elapsed,
      done: this.#done[phase],
      inFlight: this.#inFlight,
      silentSeconds: (now - this.#silentSince_ns) / NS_PER_SECOND,
      failures: this.#failures,
      recentSeconds: RECENT_SECONDS,
      requestsPerSecond: this.#ended.count(now, RECENT_SECONDS) / span,
      tokensPerSecond: this.#tokensKnown ? this.#recentTokens(now) / span : null,
      timeToFirstToken: recentLatency(this.#firstTokens, now),
      interTokenLatency: recentLatency(this.#interToken, now),
      servers: this.#servers(),
    };
  }

  /** The cool-down ends with the requests in flight. */
  #planned(phase: PhaseName): { readonly requests: number | null; readonly seconds: number | null } {
    const { warmupRequests, warmupSeconds = null, requestCount, durationSeconds } = this.#plan;
    if (phase === 'cooldown') return { requests: null, seconds: null };
    if (phase === 'warmup') return { requests: warmupRequests, seconds: warmupSeconds };
    return { requests: requestCount, seconds: durationSeconds };
  }

  #recentTokens(now_ns: number): number {
    const since = Math.floor(now_ns / NS_PER_SECOND) - RECENT_SECONDS;
    return [...this.#tokens].reduce((sum, [second, tokens]) => (second > since ? sum + tokens : sum), 0);
  }
}

function recentLatency(values: RecentValues, now_ns: number): RecentLatency {
  return {
    p50: values.quantile(now_ns, RECENT_SECONDS, 0.5),
    p99: values.quantile(now_ns, RECENT_SECONDS, 0.99),
    trend: values.medians(now_ns, TREND_SECONDS),
  };
}

type Write = NodeJS.WriteStream['write'];

/**
 * The last lines of a terminal, redrawn in place. Whatever else is written to it while they are drawn, by us or by
 * others of this process, stays above them.
 */
export class LiveLines {
  readonly out: NodeJS.WriteStream;
  readonly #others: readonly NodeJS.WriteStream[];
  #drawn: readonly string[] = [];
  #unguard: (() => void)[] = [];

  /** `others`: streams that may be the same terminal. */
  constructor(out: NodeJS.WriteStream, others: readonly NodeJS.WriteStream[] = []) {
    this.out = out;
    this.#others = others;
  }

  /** A line that stays; on a terminal it is broken at spaces. */
  print(line: string): void {
    this.clear();
    writeMessage(this.out, line);
  }

  /** Replaces the lines that were drawn before. */
  draw(lines: readonly string[]): void {
    this.clear();
    this.out.write(`${lines.join('\n')}\n`);
    this.#drawn = lines;
    this.#unguard = [this.out, ...this.#others.filter(({ isTTY }) => isTTY)].map((stream) => this.#guarded(stream));
  }

  /** The terminal itself may have written into the line of the cursor: `^C`. */
  clear(): void {
    for (const unguard of this.#unguard) unguard();
    this.#unguard = [];
    const rows = this.#rows();
    this.#drawn = [];
    if (rows > 0) this.out.write(`\r\x1b[${rows}A\x1b[J`);
    else if (canRedraw(this.out)) this.out.write('\r\x1b[K');
  }

  /** Rows of the screen that the lines take, in a window that may have become narrower. */
  #rows(): number {
    const width = this.out.columns || Infinity;
    return this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0);
  }

  /** The first write of others removes the lines, which the next drawing brings back. */
  #guarded(stream: NodeJS.WriteStream): () => void {
    const write: unknown = Reflect.get(stream, 'write');
    stream.write = ((...values: Parameters<Write>) => {
      this.clear();
      return stream.write(...values);
    }) as Write;
    return () => void Reflect.set(stream, 'write', write);
  }
}
