import { BASELINE_RUNS } from '../../exporter/judge/baseline-reference.ts';
import { deviation, mean, PEERS } from './peers.ts';
import type { Values } from './series.ts';

/** A rule that looks at the last runs of each night: the larger the score, the worse. */
interface NightlyPeer {
  readonly name: string;
  readonly score: (baseline: readonly number[], after: readonly number[]) => number;
}

/** Rules of one run, by the score that they already have, and Welch's t of the last runs as if they were independent. */
export const NIGHTLY_PEERS: readonly NightlyPeer[] = [
  ...['fixed 5 %', "Bencher's t-test, 0.99", "Bencher's IQR, 1.5"].map((name) => ({
    name: name.replace('fixed 5 %', 'fixed threshold').replace(/, .*/, ''),
    score: (baseline: readonly number[], after: readonly number[]): number =>
      PEERS.find((peer) => peer.name === name)?.score(baseline, after.at(-1) ?? NaN) ?? NaN,
  })),
  welch(3),
  welch(5),
];

/** By peer, the score of each night after the baseline: that of the measure which is worst. */
export function nightlyScores(runs: readonly Values[]): readonly (readonly number[])[] {
  const measures = (runs[0] ?? []).map((_, i) => runs.map((values) => values[i] ?? NaN));
  const nights = runs.slice(BASELINE_RUNS).map((_, night) => BASELINE_RUNS + night + 1);
  return NIGHTLY_PEERS.map(({ score }) =>
    nights.map((end) =>
      Math.max(...measures.map((all) => score(all.slice(0, BASELINE_RUNS), all.slice(BASELINE_RUNS, end)))),
    ),
  );
}

/** Histories of which more than this share of the nights exceed a score alarm all the time. */
const MAX_SHARE = 0.2;

/** By peer, the lowest score with which an alarm begins in at most this share of the nights: one that lasts counts once. */
export function scoresAt(histories: readonly (readonly (readonly number[])[])[], share: number): readonly number[] {
  return NIGHTLY_PEERS.map((_, peer) => {
    const nights = histories.map((history) => history[peer] ?? []);
    const fromHighest = Float64Array.from(nights.flat()).sort().reverse();
    const begun = (limit: number): number =>
      nights.reduce(
        (sum, scores) =>
          sum + scores.filter((score, i) => score > limit && !((scores[i - 1] ?? -Infinity) > limit)).length,
        0,
      );
    let [few, many] = [0, Math.floor(MAX_SHARE * fromHighest.length)];
    while (many - few > 1) {
      const middle = (few + many) >> 1;
      if (begun(fromHighest[middle] ?? NaN) <= share * fromHighest.length) few = middle;
      else many = middle;
    }
    return fromHighest[few] ?? NaN;
  });
}

/** By peer, in which of the histories one of the first nights exceeds the score. */
export function foundByPeers(
  histories: readonly (readonly (readonly number[])[])[],
  scores: readonly number[],
  nights: number,
): readonly (readonly boolean[])[] {
  return scores.map((limit, peer) =>
    histories.map((history) => history[peer]?.slice(0, nights).some((score) => score > limit) ?? false),
  );
}

function welch(runs: number): NightlyPeer {
  return {
    name: `Welch's t of ${runs} runs`,
    score: (baseline, after) => {
      if (after.length < runs) return -Infinity;
      const [a, b] = [baseline, after.slice(-runs)];
      return (mean(b) - mean(a)) / Math.sqrt(deviation(b) ** 2 / b.length + deviation(a) ** 2 / a.length);
    },
  };
}
