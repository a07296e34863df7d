import type { ProbeVerdict } from '../../../core/run/capacity.ts';
import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import { mean, median } from '../../../core/stats/percentiles.ts';
import { judgeObjective, type ObjectiveTest, type ObjectiveJudgment } from './objective-test.ts';
import { risingTrend } from '../../../core/stats/trend.ts';

/** Probability of each wrong verdict of one probe, over all its looks: two sides make 95 %. */
const ERROR = 0.025;
/** A probe is judged at most so often by its requests, and once more when it has lasted long enough. */
const LOOKS = 10;
const ALL_LOOKS = LOOKS + 1;
/** Judged requests at the first look. */
const FIRST_LOOK = 16;
/** A probe may take so many times the requests that decide if all keep the limit. */
const MAX_TIMES = 8;
/** A mean has no share to derive a size from. */
const SHARE_FOR_MEAN = 0.05;
const MIN_REQUESTS = 256;

/** How long a probe may be, and when it is judged. */
interface ProbeSize {
  /** Numbers of judged requests, ascending; the last is the largest. */
  readonly looks: readonly number[];
  /** Probability of a wrong verdict at one look. */
  readonly level: number;
}

/**
 * The looks of a probe: their distances grow, so that a response that is clear comes early and a difficult one has up to
 * eight times the requests that decide when all keep the limit. A probe that stops at the first look that decides would be
 * wrong more often than its level says (Armitage, McPherson and Rowe, 1969: 19 % instead of 5 % with ten looks). Therefore each
 * look has its equal part of the probability of error (Bonferroni), which holds however the looks depend on each other.
 *
 * `inFlight`: requests of a closed load, which depend on each other in generations; `most`: the user's limit; null: none.
 */
export function probeSize(tests: readonly ObjectiveTest[], inFlight: number, most: number | null): ProbeSize {
  const level = ERROR / ALL_LOOKS / tests.length;
  const largest = Math.min(
    most ?? Infinity,
    Math.max(...tests.map((test) => sizeFor(test, inFlight, ERROR / ALL_LOOKS))),
  );
  const first = Math.min(FIRST_LOOK, largest);
  const factor = (largest / first) ** (1 / (LOOKS - 1));
  const looks = Array.from({ length: LOOKS }, (_, i) => Math.round(first * factor ** i));
  return { looks: [...new Set(looks)], level };
}

function sizeFor({ allowedBeyond }: ObjectiveTest, inFlight: number, level: number): number {
  const allowed = allowedBeyond ?? SHARE_FOR_MEAN;
  const deciding = Math.ceil(Math.log(level) / Math.log1p(-allowed));
  return Math.max(MIN_REQUESTS, MAX_TIMES * deciding, (MAX_TIMES / 2) * Math.ceil(1 / allowed) * inFlight);
}

/** What a probe found, and why it ended there. */
export interface ProbeDecision {
  readonly verdict: ProbeVerdict;
  readonly isConclusive: boolean;
  /** growing: the server does not keep up, and more requests would not change that; ended: the probe was over. */
  readonly by: 'objectives' | 'growing' | 'ended';
  /** In the order of the objectives. */
  readonly judgments: readonly ObjectiveJudgment[];
  readonly growth: Growth | null;
}

interface ProbeWatchOptions {
  readonly tests: readonly ObjectiveTest[];
  readonly size: ProbeSize;
  /** Whether only a conclusive verdict ends the probe. */
  readonly isConfirming: boolean;
  /** Requests kept in flight; null: requests have their own due times. */
  readonly concurrency: number | null;
  /** Called once, when more requests would not change the response. */
  readonly decided: (decision: ProbeDecision) => void;
}

/** The first requests of an open-loop load meet an empty server: not judged for so many latencies. */
const SETTLING_LATENCIES = 3;
/** Of the first request that ended: a load that never settles is judged too. */
const MAX_SETTLING_LATENCIES = 10;
/** The time after which growth is judged again. */
const GROWTH_TIME_FACTOR = 1.25;

/**
 * Judges a probe while it lasts, at the looks of its size, as an observer of its run. The first request of each slot of a
 * closed load, and the first requests of an open-loop one, are not judged: they meet an idle server.
 */
export class ProbeWatch implements RunEvents {
  readonly #options: ProbeWatchOptions;
  readonly #growth = new LoadGrowth();
  readonly #sent_ns: number[] = [];
  readonly #latency_ns: number[] = [];
  readonly #values: readonly (number | null)[][];
  #start_ns = 0;
  /** Null: the load has not settled. */
  #settled_ns: number | null = null;
  readonly #inFlight = new RequestsInFlight();
  /** Sent before the load had settled. */
  #sentBeforeSettled = Infinity;
  #nextLook = 0;
  #nextGrowth_ns = 0;
  #decision: ProbeDecision | null = null;

  constructor(options: ProbeWatchOptions) {
    this.#options = options;
    this.#values = options.tests.map(() => []);
  }

  phaseStarted(phase: PhaseName, at_ns: number): void {
    if (phase === 'measure') this.#start_ns = at_ns;
  }

  requestSent(phase: PhaseName, due_ns: number, sent_ns: number): void {
    if (phase !== 'measure') return;
    this.#growth.sent(due_ns, sent_ns);
    this.#inFlight.sent(sent_ns);
  }

  requestEnded(record: RequestRecord): void {
    if (record.phase !== 'measure' || this.#decision !== null) return;
    this.#growth.ended(record.end_ns);
    // A cancelled request is of unknown latency: those after it are not judged, or the slow ones would be missing.
    if (record.outcome === 'cancelled') return;
    this.#inFlight.ended(record.sent_ns);
    this.#sent_ns.push(record.sent_ns);
    this.#latency_ns.push(record.end_ns - record.sent_ns);
    for (const [i, test] of this.#options.tests.entries()) this.#values[i]?.push(test.value(record));
    if (this.#options.concurrency === null) this.#watchOpenLoad(record.end_ns);
    this.#look(record.end_ns);
  }

  /** The decision, or what the requests say now that the probe has ended. */
  result(): ProbeDecision {
    return this.#decision ?? this.#judged('ended', this.#growthUntil(this.#lastEnd()));
  }

  #lastEnd(): number {
    return this.#sent_ns.reduce((last, sent, i) => Math.max(last, sent + (this.#latency_ns[i] ?? 0)), 0);
  }

  #watchOpenLoad(now_ns: number): void {
    const elapsed = now_ns - this.#start_ns;
    if (this.#settled_ns === null) {
      const usual = SETTLING_LATENCIES * median(this.#latency_ns);
      const longest = MAX_SETTLING_LATENCIES * (this.#latency_ns[0] ?? 0);
      if (elapsed < Math.min(usual, longest)) return;
      this.#settled_ns = now_ns;
      this.#sentBeforeSettled = this.#inFlight.count;
      this.#nextGrowth_ns = now_ns + LoadGrowth.shortest_ns(median(this.#latency_ns));
    }
    if (now_ns < this.#nextGrowth_ns) return;
    this.#nextGrowth_ns = this.#settled_ns + (now_ns - this.#settled_ns) * GROWTH_TIME_FACTOR;
    const found = this.#growthUntil(now_ns);
    if (found?.isCertain === true) this.#decide(this.#judged('growing', found));
  }

  #growthUntil(now_ns: number): ReturnType<LoadGrowth['between']> {
    if (this.#options.concurrency !== null || this.#settled_ns === null) return null;
    return this.#growth.between(this.#settled_ns, now_ns, median(this.#latency_ns));
  }

  #look(now_ns: number): void {
    const { looks } = this.#options.size;
    if (this.#decision !== null) return;
    const isOver = this.#nextLook >= looks.length;
    // After the last look an open-loop load may still have to last until its growth can be judged: one look more.
    if (isOver ? !this.#hasLasted(now_ns) : this.#judgedRequests() < (looks[this.#nextLook] ?? Infinity)) return;
    while ((looks[this.#nextLook] ?? Infinity) <= this.#judgedRequests()) this.#nextLook++;
    const judged = this.#judged('objectives', this.#growthUntil(now_ns), now_ns);
    const isLast = this.#nextLook >= looks.length;
    const isDecided = judged.verdict !== 'undecided' && (judged.isConclusive || !this.#options.isConfirming);
    if (isDecided || (isLast && this.#hasLasted(now_ns))) this.#decide(judged);
  }

  /** Whether growth could have been seen. */
  #hasLasted(now_ns: number): boolean {
    if (this.#options.concurrency !== null) return true;
    if (this.#settled_ns === null) return false;
    return now_ns - this.#settled_ns >= LoadGrowth.shortest_ns(median(this.#latency_ns));
  }

  #decide(decision: ProbeDecision): void {
    this.#decision = decision;
    this.#options.decided(decision);
  }

  #judgedRequests(): number {
    return Math.max(0, this.#inFlight.completed - this.#unjudged());
  }

  /** Number of requests at the beginning that are not judged. */
  #unjudged(): number {
    return this.#options.concurrency ?? this.#sentBeforeSettled;
  }

  #judged(by: ProbeDecision['by'], growth: ReturnType<LoadGrowth['between']>, now_ns = this.#lastEnd()): ProbeDecision {
    const { tests, size } = this.#options;
    const order = this.#judgedOrder();
    const judgments = tests.map((test, i) => {
      const values = order.map((request) => this.#values[i]?.[request] ?? null).filter((value) => value !== null);
      return judgeObjective(test, Float64Array.from(values), size.level);
    });
    const grows = growth?.isCertain === true;
    const verdict = grows ? 'fails' : this.#together(judgments, growth, now_ns);
    const isConclusive = verdict !== 'holds' || judgments.every((each) => each.isConclusive);
    return { verdict, isConclusive, by: grows ? 'growing' : by, judgments, growth: growth?.growth ?? null };
  }

  /** A load that may be growing, or that has not lasted long enough to see growth, does not hold yet. */
  #together(
    judgments: readonly ObjectiveJudgment[],
    growth: ReturnType<LoadGrowth['between']>,
    now_ns: number,
  ): ProbeVerdict {
    if (judgments.some(({ verdict }) => verdict === 'fails')) return 'fails';
    if (judgments.some(({ verdict }) => verdict === 'undecided') || growth !== null) return 'undecided';
    return this.#hasLasted(now_ns) ? 'holds' : 'undecided';
  }

  /**
   * The judged requests in the order in which they were sent, up to the first that has not ended: among those that have ended
   * at any moment the fast ones are too many.
   */
  #judgedOrder(): number[] {
    const order = [...this.#sent_ns.keys()].sort((a, b) => (this.#sent_ns[a] ?? 0) - (this.#sent_ns[b] ?? 0));
    return order.slice(this.#unjudged(), this.#inFlight.completed);
  }
}

/** Which requests have ended of those that were sent before any that has not. */
class RequestsInFlight {
  readonly #sent_ns: number[] = [];
  /** By the time of sending: how many of them have not ended. */
  readonly #open = new Map<number, number>();
  #completed = 0;

  get count(): number {
    return this.#sent_ns.length;
  }

  sent(sent_ns: number): void {
    this.#sent_ns.push(sent_ns);
    this.#open.set(sent_ns, (this.#open.get(sent_ns) ?? 0) + 1);
  }

  ended(sent_ns: number): void {
    const open = (this.#open.get(sent_ns) ?? 1) - 1;
    if (open === 0) this.#open.delete(sent_ns);
    else this.#open.set(sent_ns, open);
  }

  /** Number of requests that were sent before the first that has not ended. */
  get completed(): number {
    const [oldest_ns = Infinity] = this.#open.keys();
    while ((this.#sent_ns[this.#completed] ?? Infinity) < oldest_ns) this.#completed++;
    return this.#completed;
  }
}

/** A load that grew steadily. */
export interface Growth {
  readonly quantity: 'requests in flight' | 'schedule delay';
  /** At the beginning and at the end, by the median slope: requests, or seconds. */
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  /** Probability of such a rise without a trend. */
  readonly p: number;
}

/** With fewer windows even a strict rise can be chance. */
const MIN_WINDOWS = 8;
const MAX_WINDOWS = 20;
const MIN_WINDOW_NS = 100e6;

/** A rise below this share of what was there, or below these amounts, is not relevant. */
const MIN_RISE_RATIO = 0.25;
const MIN_RISE = { 'requests in flight': 2, 'schedule delay': 0.05 } as const;

/** A probability at which a rise is no longer chance, and one at which it can no longer be excluded. */
const GROWS_AT = 0.001;
const SUSPECTED_AT = 0.05;

/**
 * Whether the requests in flight of an open-loop load, or their wait for a slot, grow steadily: then the server does not keep
 * up, and every latency exceeds any limit if only the load lasts. The time is divided into windows at least as long as a usual
 * request takes, so that their means are nearly independent, and Mann's test is applied to them (`risingTrend`).
 */
class LoadGrowth {
  readonly #sent_ns: number[] = [];
  readonly #delay_ns: number[] = [];
  readonly #end_ns: number[] = [];

  sent(due_ns: number, sent_ns: number): void {
    this.#sent_ns.push(sent_ns);
    this.#delay_ns.push(sent_ns - due_ns);
  }

  ended(end_ns: number): void {
    this.#end_ns.push(end_ns);
  }

  /** Length of the shortest time from which growth can be judged, for requests that usually take `latency_ns`. */
  static shortest_ns(latency_ns: number): number {
    return MIN_WINDOWS * Math.max(latency_ns, MIN_WINDOW_NS);
  }

  /**
   * The growth between two instants; `suspected`: a rise that chance does not exclude either. Null: none, or the time is too
   * short for a judgment.
   */
  between(from_ns: number, to_ns: number, latency_ns: number): { growth: Growth; isCertain: boolean } | null {
    const width = Math.max(latency_ns, MIN_WINDOW_NS, (to_ns - from_ns) / MAX_WINDOWS);
    const count = Math.floor((to_ns - from_ns) / width);
    if (count < MIN_WINDOWS) return null;
    const windows = { from_ns, width, count };
    const series = {
      'requests in flight': this.#inFlight(windows),
      'schedule delay': this.#delays(windows),
    };
    for (const quantity of ['requests in flight', 'schedule delay'] as const) {
      const means = series[quantity];
      const { slope, p } = risingTrend(means);
      const rise = slope * (count - 1);
      const from = Math.max(0, mean(means) - rise / 2);
      if (p > SUSPECTED_AT || rise <= 0) continue;
      const isRelevant = rise >= Math.max(MIN_RISE[quantity], MIN_RISE_RATIO * from);
      const growth = { quantity, from, to: from + rise, seconds: (count * width) / 1e9, p };
      return { growth, isCertain: p <= GROWS_AT && isRelevant };
    }
    return null;
  }

  /** The time-weighted mean of each window. */
  #inFlight({ from_ns, width, count }: Windows): number[] {
    const sums = new Array<number>(count).fill(0);
    const add = (from: number, sign: number): void => {
      // A request that was sent adds one from then on; its end takes it away.
      for (let i = 0; i < count; i++) {
        const end = from_ns + (i + 1) * width;
        if (from < end) sums[i] = (sums[i] ?? 0) + sign * Math.min(width, end - from);
      }
    };
    for (const at of this.#sent_ns) add(at, 1);
    for (const at of this.#end_ns) add(at, -1);
    return sums.map((sum) => sum / width);
  }

  /** The mean of the requests that were sent in each window; a window without any repeats the one before. */
  #delays({ from_ns, width, count }: Windows): number[] {
    const sums = new Array<number>(count).fill(0);
    const counts = new Array<number>(count).fill(0);
    for (const [i, at] of this.#sent_ns.entries()) {
      const window = Math.floor((at - from_ns) / width);
      if (window < 0 || window >= count) continue;
      sums[window] = (sums[window] ?? 0) + (this.#delay_ns[i] ?? 0) / 1e9;
      counts[window] = (counts[window] ?? 0) + 1;
    }
    let last = 0;
    return sums.map((sum, i) => (last = counts[i] ? sum / (counts[i] ?? 1) : last));
  }
}

interface Windows {
  readonly from_ns: number;
  readonly width: number;
  readonly count: number;
}
