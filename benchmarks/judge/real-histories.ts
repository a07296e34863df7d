import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { casesOf } from '../../exporter/judge/cases.ts';
import { BASELINE_RUNS } from '../../exporter/judge/baseline-reference.ts';
import { judgeAgainstHistory } from '../../exporter/judge/history.ts';
import { defaultRules } from '../../exporter/judge/rules.ts';
import type { RunFigures } from '../../exporter/judge/run-figures.ts';
import type { VerdictName } from '../../core/api/verdict.ts';
import { deviation, judgedByPeer, PEERS, welchOnRequests } from './peers.ts';
import type { RealRun } from './repeats-file.ts';
import type { Values } from './worlds.ts';

const REQUESTS_PEER = "Welch's t on requests";
const PUBLISHED = PEERS.filter(({ name }) => name !== REQUESTS_PEER);
/** Names of the peers, in the order of `ForwardCheck.peers`. */
export const REAL_PEERS = [...PUBLISHED.map(({ name }) => name), REQUESTS_PEER];

/** The check of one run against those before it. */
export interface ForwardCheck {
  readonly verdict: VerdictName;
  readonly suspected: boolean;
  /** Whether each of the peers alarms. */
  readonly peers: readonly boolean[];
}

/**
 * Each run from the place `from` on, judged against at most 20 runs before it. A suspect run is confirmed by the runs after
 * it, as many as `check` requests; it stays suspect where the series ends before.
 */
export function checkedForward(runs: readonly RealRun[], from: number): readonly ForwardCheck[] {
  const values = peerValues(runs);
  return runs.slice(from).map((run, i) => {
    const place = from + i;
    const first = Math.max(0, place - BASELINE_RUNS);
    const history = values.slice(first, place);
    const published = PUBLISHED.map((peer) => judgedByPeer(peer, history, values[place] ?? []).alarm);
    const before = runs[place - 1]?.requests ?? [];
    return {
      ...ours(
        runs.map(({ figures }) => figures),
        first,
        place,
      ),
      peers: [...published, run.requests.some((sample, j) => welchOnRequests(before[j], sample) > 1.96)],
    };
  });
}

function ours(runs: readonly RunFigures[], first: number, place: number): Pick<ForwardCheck, 'verdict' | 'suspected'> {
  const rules = defaultRules(runs);
  const accepted = runs.slice(first, place);
  const alone = judgeAgainstHistory(accepted, runs.slice(place, place + 1), { rules });
  if (alone.verdict !== 'suspect') return { verdict: alone.verdict, suspected: false };
  const further = alone.needs?.design === 'confirm' ? alone.needs.further : 0;
  const { verdict } = judgeAgainstHistory(accepted, runs.slice(place, place + 1 + further), { rules });
  return { verdict, suspected: true };
}

/** The same runs in a random order, which takes away whatever they have of trend and dependence. */
export function shuffled(runs: readonly RealRun[], random: Random): readonly RealRun[] {
  const drawn = runs.map((run) => ({ run, key: random() })).sort((x, y) => x.key - y.key);
  return drawn.map(({ run: { figures, requests } }, place) => ({
    figures: { ...figures, run_id: `r${place}`, start: new Date(Date.UTC(2026, 0, 1) + place * 60_000).toISOString() },
    requests,
  }));
}

/** Checks of as many random orders. */
export function checkedInRandomOrders(runs: readonly RealRun[], from: number, orders: number): readonly ForwardCheck[] {
  const random = seededRandom('orders');
  return Array.from({ length: orders }, () => checkedForward(shuffled(runs, random), from)).flat();
}

/** Run-to-run standard deviation of each gating figure, in margins. */
export function scatterInMargins(
  runs: readonly RealRun[],
): readonly { readonly name: string; readonly margins: number }[] {
  const figures = runs.map((run) => run.figures);
  return casesOf(figures, [], defaultRules(figures))
    .filter(({ place }) => place >= 0)
    .map(({ key, a, margin }) => ({
      name: key.stat === 'value' ? key.measure : `${key.measure} ${key.stat}`,
      margins: deviation(a.map(([low]) => low)) / Math.log1p(margin),
    }));
}

/** Larger is worse; without figures that are the same in all runs, such as an error ratio of 0. */
export function peerValues(runs: readonly RealRun[]): readonly Values[] {
  const all = runs.map(({ figures: { figures } }) =>
    figures.map(({ value, direction }) => {
      if (typeof value !== 'number') throw new Error('a recorded run lacks a figure');
      return direction === 'higher' ? 1 / value : value;
    }),
  );
  const varies = (i: number): boolean => new Set(all.map((values) => values[i])).size > 1;
  return all.map((values) => values.filter((_, i) => varies(i)));
}
