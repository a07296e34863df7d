import { risingTrend } from '../../../core/stats/trend.ts';

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
export class LoadGrowth {
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

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
