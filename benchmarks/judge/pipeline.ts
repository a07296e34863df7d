import type { BaselineEntry, ScenarioStateName } from '../../core/api/scenarios.ts';
import type { VerdictEntry, VerdictName } from '../../core/api/verdict.ts';
import type { Random } from '../../core/stats/seeded-random.ts';
import { BASELINE_RUNS } from '../../exporter/judge/baseline-sight.ts';
import { foldBaseline } from '../../exporter/judge/baseline.ts';
import { judgeNight } from '../../exporter/judge/check-scenario.ts';
import type { RunFigures } from '../../exporter/judge/run-figures.ts';
import { stateOf } from '../../exporter/judge/scenario-state.ts';
import { deviation, mean, PEERS } from './peers.ts';
import { figuresOf, MARGIN, RULES, runMaker, type Values, type World } from './worlds.ts';

/** What a night of a simulated pipeline ends with. */
interface Night {
  readonly verdict: VerdictName;
  readonly state: ScenarioStateName;
}

const AT = (second: number): string => new Date(Date.UTC(2027, 0, 1) + second * 1000).toISOString();

/**
 * Nightly `check` of the runs after the baseline, with what each left in the logs; `accept`: with --accept-passed.
 *
 * @param pinned runs from the beginning that are pinned as the anchor
 */
export function nightly(
  runs: readonly Values[],
  { accept = false, pinned = 0 }: { readonly accept?: boolean; readonly pinned?: number } = {},
): readonly Night[] {
  const all = runs.map(figuresOf);
  const byId = new Map(all.map((run) => [run.run_id, run]));
  const runsOf = (ids: readonly string[]): readonly RunFigures[] => ids.flatMap((id) => byId.get(id) ?? []);
  const changes: BaselineEntry[] = [];
  const change = (at: number, run_ids: readonly string[], level?: 'new'): void => {
    const entry = { schema_version: 1, scenario: 'simulated', at: AT(at), action: 'accept', run_ids } as const;
    changes.push({ ...entry, author: null, reason: null, ...(level === undefined ? {} : { level }) });
  };
  change(
    -1,
    all.slice(0, BASELINE_RUNS).map(({ run_id }) => run_id),
  );
  const entries: VerdictEntry[] = [];
  return all.slice(BASELINE_RUNS).map((run, i) => {
    const baseline = { ...foldBaseline(changes), entries: changes };
    const open = stateOf(entries, changes)?.open ?? null;
    const before = all.slice(0, BASELINE_RUNS + i).map(({ run_id }) => run_id);
    const lastAccepted = before.findLastIndex((id) => baseline.accepted.includes(id));
    const over = before.indexOf(entries.findLast(({ recovered }) => recovered)?.run_ids[0] ?? '');
    const begun = open === null ? Infinity : before.indexOf(open.since_run_id);
    const ids = before.slice(Math.min(begun, Math.max(lastAccepted + 1, over)));
    const { judgment, entry, passed } = judgeNight({
      ...{
        accepted: runsOf(baseline.accepted).slice(-BASELINE_RUNS),
        anchor: all.slice(0, pinned),
        entries,
        open,
        baseline,
      },
      pending: [...runsOf(ids), run],
      before: runsOf(open?.baseline_run_ids ?? []),
      ...{ rules: RULES, author: null },
    });
    entries.push({ ...entry, at: AT(2 * i) });
    const state = stateOf(entries, changes)?.state ?? 'unjudged';
    const accepted = accept ? passed() : [];
    if (accepted.length > 0) change(2 * i + 1, accepted, judgment.verdict === 'improved' ? 'new' : undefined);
    return { verdict: judgment.verdict, state };
  });
}

/** Twenty accepted runs and the nights after them, of which some are slower or faster by a factor. */
export function historyOf(
  world: World,
  random: Random,
  {
    scatter,
    nights,
    factor,
    bad = 0,
  }: {
    /** Run-to-run standard deviation as a ratio. */
    readonly scatter: number;
    readonly nights: number;
    readonly factor: (night: number) => number;
    /** Share of the runs that are 1.4 times as slow for reasons of their own. */
    readonly bad?: number;
  },
): readonly Values[] {
  const make = runMaker(world, random, scatter / Math.log1p(MARGIN));
  return Array.from({ length: BASELINE_RUNS + nights }, (_, day) => {
    const values = make(day, Math.log(factor(day - BASELINE_RUNS)) / Math.log1p(MARGIN));
    return random() < bad ? values.map((value) => 1.4 * value) : values;
  });
}

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
