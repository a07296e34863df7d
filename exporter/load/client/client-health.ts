import { interTokenLatencySeconds } from '../../../core/measures/measures.ts';
import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { ClientHealth } from '../../../core/run/result.ts';
import { joinedEvents, type RunEvents } from '../../../core/run/run-output.ts';
import { things } from '../../../core/text/quantities.ts';
import { monotonicNow_ns } from '../../clock/monotonic-clock.ts';

/** Bins per octave: a quantile is off by at most half a bin, about 1 %. */
const BINS_PER_OCTAVE = 32;
const OCTAVES = 64;

/** Counts of positive values in logarithmic bins: memory use does not depend on the number of values. */
export class LatencyBins {
  readonly #counts = new Float64Array(BINS_PER_OCTAVE * OCTAVES);
  #count = 0;
  #max = 0;

  /** Values below 1 count as 1. */
  add(value: number): void {
    const bin = binOf(value);
    this.#counts[bin] = (this.#counts[bin] ?? 0) + 1;
    this.#count++;
    if (value > this.#max) this.#max = value;
  }

  get count(): number {
    return this.#count;
  }

  /** The largest value, exact; null when there is none. */
  get max(): number | null {
    return this.#count === 0 ? null : this.#max;
  }

  /** Number of values in bins above that of the given value: within a bin (2 %) no value counts as larger. */
  countAbove(value: number): number {
    let above = 0;
    for (let bin = binOf(value) + 1; bin < this.#counts.length; bin++) above += this.#counts[bin] ?? 0;
    return above;
  }

  /** The center of the bin with the value of rank ⌈q·n⌉; null when there is none. */
  quantile(q: number): number | null {
    let rank = Math.max(Math.ceil(q * this.#count), 1);
    for (let bin = 0; bin < this.#counts.length && this.#count > 0; bin++) {
      rank -= this.#counts[bin] ?? 0;
      if (rank <= 0) return Math.min(2 ** ((bin + 0.5) / BINS_PER_OCTAVE), this.#max);
    }
    return null;
  }
}

function binOf(value: number): number {
  return Math.floor(Math.log2(Math.max(value, 1)) * BINS_PER_OCTAVE);
}

/** Interval at which the delay of a loop is sampled. */
const SAMPLE_EVERY_MS = 10;
const SAMPLE_EVERY_NS = SAMPLE_EVERY_MS * 1e6;

/**
 * How late an event loop was, over the time of the measure phase. A loop that is blocked for long yields one sample
 * instead of many: the missed samples are filled in, each one period less late than the one before, so that every share
 * is a share of time, and a quantile is that of the error that a chunk at any instant would have had.
 */
export class EventLoopDelays {
  readonly #overTime = new LatencyBins();
  readonly #pauses = new LatencyBins();

  /** A timer of the period `SAMPLE_EVERY_MS` ran this late; not negative. */
  add(delay_ns: number): void {
    this.#pauses.add(delay_ns);
    for (let late_ns = delay_ns; late_ns >= 0; late_ns -= SAMPLE_EVERY_NS) this.#overTime.add(late_ns);
  }

  /** Samples that the loop took. */
  get count(): number {
    return this.#pauses.count;
  }

  /** Null without samples. */
  get p99_ns(): number | null {
    return this.#overTime.quantile(0.99);
  }

  get max_ns(): number | null {
    return this.#pauses.max;
  }

  /** Share of the time during which the loop was later than the limit; 0 without samples. */
  shareLaterThan(delay_ns: number): number {
    return this.#overTime.count === 0 ? 0 : this.#overTime.countAbove(delay_ns) / this.#overTime.count;
  }

  /** Number of separate periods during which it was later than the limit. */
  pausesLongerThan(delay_ns: number): number {
    return this.#pauses.countAbove(delay_ns);
  }
}

/** The share of the median inter-token latency that the loop may be late by. */
const ALLOWED_SHARE = 0.05;
/** The delay that any scheduler causes, including the timer's own 2 ms: smaller delays say nothing about the client. */
const SCHEDULING_NS = 5e6;
/**
 * A p99 exceeds the limit for 1 % of the time: the threshold is twice that, so that one sample more or less does not
 * decide.
 */
const CLEAR_SHARE = 0.02;
/** A single garbage collection, or a moment of another program, is not an excessive load. */
const MIN_PAUSES = 5;
/** When the loop was blocked for this share of the time, fewer pauses are sufficient. */
const MAX_THE_TIME = 0.5;

/**
 * Whether the client itself may have limited the measurement. It is `saturated` when its event loop was later than 5 %
 * of the median inter-token latency, or than 5 ms where that is less, for more than 2 % of the time of the measure
 * phase, and that in at least five pauses or for more than half of the time.
 */
export function clientVerdict(
  delays: EventLoopDelays,
  interTokenLatencyP50_ns: number | null,
): Pick<ClientHealth, 'verdict' | 'why'> {
  const p99_ns = delays.p99_ns;
  if (p99_ns === null) return { verdict: 'unknown', why: 'the event-loop delay was not sampled' };
  if (interTokenLatencyP50_ns === null) {
    return { verdict: 'unknown', why: 'no request has an inter-token latency to compare the event-loop delay with' };
  }
  const allowed_ns = ALLOWED_SHARE * interTokenLatencyP50_ns;
  const limit_ns = Math.max(allowed_ns, SCHEDULING_NS);
  const share = delays.shareLaterThan(limit_ns);
  const pauses = delays.pausesLongerThan(limit_ns);
  if (share <= CLEAR_SHARE || (pauses < MIN_PAUSES && share <= MAX_THE_TIME)) return { verdict: 'ok', why: null };
  const limit =
    allowed_ns >= SCHEDULING_NS
      ? `5 % of p50 inter-token latency ${milliseconds(interTokenLatencyP50_ns)}`
      : milliseconds(SCHEDULING_NS);
  const evidence = `exceeded for ${percent(share)} of the time, in ${things(pauses, 'pauses')}`;
  return { verdict: 'saturated', why: `p99 event-loop delay ${milliseconds(p99_ns)} > ${limit} (${evidence})` };
}

function milliseconds(ns: number): string {
  return `${Number((ns / 1e6).toPrecision(3))} ms`;
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}

/** During the phase, the verdict is updated after this many samples. */
const SAMPLES_PER_VERDICT = 100;

/**
 * The cost of the measurement in a measure phase: the CPU time of this process, how late event loops were, and the
 * median inter-token latency that the delays are compared with. The subclass samples the loops.
 */
export abstract class MeasuredClient implements RunEvents {
  readonly #interTokenLatencies = new LatencyBins();
  protected readonly events: Required<RunEvents>;
  #cpuAtStart: NodeJS.CpuUsage | null = null;
  #cpuSeconds: number | null = null;
  #saturated = false;

  /** The observers are notified when the verdict changes. */
  constructor(observers: readonly RunEvents[]) {
    this.events = joinedEvents(observers);
  }

  /** One per event loop that generates the load. */
  protected abstract get loops(): readonly EventLoopDelays[];

  phaseStarted(phase: PhaseName): void {
    if (phase === 'measure') this.#cpuAtStart = process.cpuUsage();
  }

  phaseEnded(phase: PhaseName): void {
    if (phase !== 'measure' || this.#cpuAtStart === null) return;
    const { user, system } = process.cpuUsage(this.#cpuAtStart);
    this.#cpuSeconds = (user + system) / 1e6;
    this.#judge();
  }

  requestEnded(record: RequestRecord): void {
    if (record.phase !== 'measure' || record.outcome !== 'ok') return;
    const seconds = interTokenLatencySeconds(record);
    if (seconds !== null) this.#interTokenLatencies.add(seconds * 1e9);
  }

  /** The event loop with the largest delays decides. */
  result(): ClientHealth {
    const [worst] = this.loops.toSorted((a, b) => (b.p99_ns ?? -1) - (a.p99_ns ?? -1));
    if (worst === undefined) throw new Error('a load requires at least one event loop');
    const max_ns = Math.max(...this.loops.map((loop) => loop.max_ns ?? -1));
    return {
      ...clientVerdict(worst, this.#interTokenLatencies.quantile(0.5)),
      event_loop_delay_p99_seconds: worst.p99_ns === null ? null : worst.p99_ns / 1e9,
      event_loop_delay_max_seconds: max_ns < 0 ? null : max_ns / 1e9,
      cpu_seconds: this.#cpuSeconds,
    };
  }

  protected sampled(loop: EventLoopDelays, delay_ns: number): void {
    loop.add(delay_ns);
    if (loop.count % SAMPLES_PER_VERDICT === 0) this.#judge();
  }

  #judge(): void {
    const saturated = this.result().verdict === 'saturated';
    if (saturated === this.#saturated) return;
    this.#saturated = saturated;
    this.events.clientSaturated(saturated);
  }
}

/**
 * Monitors the load that this thread generates: how late its own event loop runs a timer during the measure phase. The
 * observers get each sample too.
 */
export class ClientHealthMonitor extends MeasuredClient {
  readonly #delays = new EventLoopDelays();
  #timer: NodeJS.Timeout | null = null;
  #expected_ns = 0;

  override phaseStarted(phase: PhaseName): void {
    super.phaseStarted(phase);
    if (phase === 'measure') this.#arm();
  }

  override phaseEnded(phase: PhaseName): void {
    if (phase === 'measure' && this.#timer !== null) {
      clearTimeout(this.#timer);
      // A loop that was blocked until now has not run the sample that would have shown it.
      this.#sample();
    }
    super.phaseEnded(phase);
  }

  protected override get loops(): readonly EventLoopDelays[] {
    return [this.#delays];
  }

  #arm(): void {
    this.#expected_ns = monotonicNow_ns() + SAMPLE_EVERY_MS * 1e6;
    this.#timer = setTimeout(() => {
      this.#sample();
      this.#arm();
    }, SAMPLE_EVERY_MS);
    this.#timer.unref();
  }

  #sample(): void {
    const delay_ns = Math.max(monotonicNow_ns() - this.#expected_ns, 0);
    this.events.eventLoopDelay(delay_ns);
    this.sampled(this.#delays, delay_ns);
  }
}
