import { percentile } from '../../core/stats/percentiles.ts';
import { studentT } from '../../core/stats/distributions.ts';
import type { RequestSample } from './repeats-file.ts';
import type { Values } from './worlds.ts';

/** Requests of a simulated run, and their standard deviation as a share of their mean. */
const REQUESTS = 1000;
const REQUEST_SPREAD = 0.5;

/** A published rule for one measure: how much worse a run is than the history, and from where that is an alarm. */
export interface Peer {
  readonly name: string;
  readonly score: (history: readonly number[], run: number) => number;
  readonly alarm: (history: readonly number[]) => number;
}

export const PEERS: readonly Peer[] = [
  fixedThreshold(0.05),
  fixedThreshold(0.1),
  {
    // The requests of the run against those of the run before, as if they were independent; two-sided 5 %.
    name: "Welch's t on requests",
    score: (history, run) => {
      const before = history.at(-1) ?? NaN;
      return (run - before) / (REQUEST_SPREAD * Math.sqrt((run ** 2 + before ** 2) / REQUESTS));
    },
    alarm: () => 1.96,
  },
  {
    // Bencher's t_test with an upper boundary of 0.99: a t distribution with the history's mean and standard deviation.
    name: "Bencher's t-test, 0.99",
    score: (history, run) => (run - mean(history)) / deviation(history),
    alarm: (history) => studentT(0.98, history.length - 1),
  },
  {
    // Bencher's iqr with an upper boundary of 1.5: the median plus so many interquartile ranges.
    name: "Bencher's IQR, 1.5",
    score: (history, run) => {
      const sorted = Float64Array.from(history).sort();
      return (run - percentile(sorted, 0.5)) / (percentile(sorted, 0.75) - percentile(sorted, 0.25));
    },
    alarm: () => 1.5,
  },
  {
    // The alert LlmScenarioSlowerHeuristic: 10 % above the slowest of at least nine other runs.
    name: 'PromQL heuristic',
    score: (history, run) => run / Math.max(...history) - 1,
    alarm: (history) => (history.length >= 9 ? 0.1 : Infinity),
  },
];

/** The same rule for real requests: those of a run against those of the run before; from 1.96 on it is an alarm. */
export function welchOnRequests(before: RequestSample | undefined, run: RequestSample): number {
  if (before === undefined) return NaN;
  return (run.mean - before.mean) / Math.sqrt(run.std ** 2 / run.n + before.std ** 2 / before.n);
}

/** Against the mean of the history, which is kinder than against the last run. */
function fixedThreshold(share: number): Peer {
  return {
    name: `fixed ${100 * share} %`,
    score: (history, run) => run / mean(history) - 1,
    alarm: () => share,
  };
}

/** Whether any measure alarms. */
export function alarms(peer: Peer, history: readonly Values[], run: Values): boolean {
  return run.some((value, i) => {
    const of = history.map((values) => values[i] ?? NaN);
    return peer.score(of, value) > peer.alarm(of);
  });
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function deviation(values: readonly number[]): number {
  const center = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1));
}
