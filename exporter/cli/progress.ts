import { interTokenLatencySeconds } from '../../core/measures/measures.ts';
import type { PhaseName, RequestRecord } from '../../core/run/record.ts';
import { percentile } from '../../core/stats/percentiles.ts';
import type { RunObserver } from '../bench/observer.ts';
import { quantity, significant } from './quantities.ts';

const NS_PER_SECOND = 1e9;
/** Percentiles and rates are those of the last seconds, so that a person sees what happens now. */
const RECENT_SECONDS = 5;
const RECENT_LIMIT = 4_096;

interface Ended {
  readonly at_ns: number;
  readonly latency: number | null;
  readonly tokens: number;
}

/** What the display needs of the plan. */
export interface ProgressPlan {
  readonly warmupRequests: number | null;
  readonly warmupSeconds?: number | null;
  readonly requestCount: number | null;
  readonly durationSeconds: number | null;
}

/** Watches a run and tells how it goes: two lines that stay in place on a terminal, one line now and then elsewhere. */
export class Progress implements RunObserver {
  readonly #plan: ProgressPlan;
  readonly #out: NodeJS.WriteStream;
  readonly #now_ns: () => number;
  readonly #timer: NodeJS.Timeout;
  #phase: PhaseName | null = null;
  #phaseStart_ns = 0;
  #sent = 0;
  #done = 0;
  #failed = 0;
  #firstTokens: { at_ns: number; seconds: number }[] = [];
  #ended: Ended[] = [];
  #drawnLines = 0;

  /** `now_ns` is the run's monotonic clock: nanoseconds since its start. */
  constructor(plan: ProgressPlan, out: NodeJS.WriteStream, now_ns: () => number) {
    this.#plan = plan;
    this.#out = out;
    this.#now_ns = now_ns;
    this.#timer = setInterval(() => this.#draw(), out.isTTY ? 250 : 5_000);
    this.#timer.unref();
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    this.#phase = phase;
    this.#phaseStart_ns = at_ns;
    this.#sent = this.#done = this.#failed = 0;
    this.#firstTokens = [];
    this.#ended = [];
  }

  requestSent(): void {
    this.#sent++;
  }

  firstContent(_phase: PhaseName, sinceSent_ns: number): void {
    remember(this.#firstTokens, { at_ns: this.#now_ns(), seconds: sinceSent_ns / NS_PER_SECOND });
  }

  requestEnded(record: RequestRecord): void {
    this.#done++;
    if (record.outcome !== 'ok') this.#failed++;
    remember(this.#ended, {
      at_ns: this.#now_ns(),
      latency: interTokenLatencySeconds(record),
      tokens: record.output_tokens ?? 0,
    });
  }

  /** Takes the display away; what was printed line by line stays. */
  stop(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #draw(): void {
    if (this.#phase === null) return;
    const lines = this.#lines(this.#phase);
    if (!this.#out.isTTY) {
      this.#out.write(`${lines.join(' · ')}\n`);
      return;
    }
    this.#clear();
    this.#out.write(lines.map((line) => line.slice(0, (this.#out.columns || 120) - 1)).join('\n') + '\n');
    this.#drawnLines = lines.length;
  }

  #clear(): void {
    if (this.#drawnLines > 0) this.#out.write(`\x1b[${this.#drawnLines}A\x1b[J`);
    this.#drawnLines = 0;
  }

  #lines(phase: PhaseName): string[] {
    const now = this.#now_ns();
    const since = now - RECENT_SECONDS * NS_PER_SECOND;
    const elapsed = (now - this.#phaseStart_ns) / NS_PER_SECOND;
    const span = Math.min(RECENT_SECONDS, Math.max(elapsed, 0.1));
    const ended = this.#ended.filter((e) => e.at_ns >= since);
    const ttft = this.#firstTokens.filter((f) => f.at_ns >= since).map((f) => f.seconds);
    const itl = ended.flatMap((e) => (e.latency === null ? [] : [e.latency]));
    const tokens = ended.reduce((sum, e) => sum + e.tokens, 0);
    return [
      `${phase.padEnd(8)} ${this.#target(phase, elapsed)} · ${this.#sent - this.#done} in flight · ${this.#failed} failed`,
      `last ${RECENT_SECONDS} s  ${significant(ended.length / span)} requests/s · ${significant(tokens / span)} tokens/s · ` +
        `TTFT p50 ${at(ttft, 0.5)} p99 ${at(ttft, 0.99)} · ITL p50 ${at(itl, 0.5)} p99 ${at(itl, 0.99)}`,
    ];
  }

  #target(phase: PhaseName, elapsed: number): string {
    const count = phase === 'warmup' ? this.#plan.warmupRequests : this.#plan.requestCount;
    const seconds = phase === 'warmup' ? (this.#plan.warmupSeconds ?? null) : this.#plan.durationSeconds;
    if (seconds !== null)
      return `${bar(elapsed / seconds)} ${elapsed.toFixed(0)} of ${seconds} s · ${this.#done} requests`;
    return `${bar(this.#done / (count ?? Infinity))} ${this.#done} of ${count ?? '?'} requests · ${elapsed.toFixed(0)} s`;
  }
}

function remember<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > RECENT_LIMIT) list.splice(0, RECENT_LIMIT / 2);
}

function at(values: readonly number[], q: number): string {
  const sorted = Float64Array.from(values).sort();
  return quantity(sorted.length === 0 ? null : percentile(sorted, q), 'seconds');
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * 20);
  return '█'.repeat(filled) + '░'.repeat(20 - filled);
}
