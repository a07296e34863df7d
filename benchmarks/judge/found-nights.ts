import { seededRandom } from '../../core/stats/seeded-random.ts';
import type { Row } from '../bench.ts';
import { foundByPeers, NIGHTLY_PEERS, nightlyScores, scoresAt } from './nightly-peers.ts';
import { historyOf, nightly } from './pipeline.ts';
import { percent } from './share.ts';
import type { World } from './worlds.ts';

const HISTORIES = 200;

/** How runs vary when nothing changes. */
export interface Machine {
  readonly name: string;
  readonly world: World;
  /** Share of the runs that are 1.4 times as slow for reasons of their own. */
  readonly bad: number;
}

/** Nights in which nothing changed. */
export interface Quiet {
  /** Shares of the checks that find a regression, and that are red. */
  readonly found: number;
  readonly red: number;
  /** Of each history, by peer and night. */
  readonly scores: readonly (readonly (readonly number[])[])[];
}

/** Nights after a change of one measure by which a share of the histories has to be found. */
const WITHIN = [3, 5, 8];
const COMPARED = 5;

/** Nights of 100 in which a false alarm of a rule may begin; ours begin in fewer. */
const PEER_ALARMS = 0.25;

/**
 * What is found beside other rules: each with the one score at which it raises at most one false alarm in 400 nights in each of the
 * worlds, as ours does; and, for information, with the score at which it raises as many as ours in this world.
 */
export function foundRows(unchanged: readonly (Machine & Quiet)[], note: (line: string) => void): readonly Row[] {
  const kept = unchanged.map(({ scores }) => scoresAt(scores, PEER_ALARMS / 100));
  const everywhere = NIGHTLY_PEERS.map((_, peer) => Math.max(...kept.map((scores) => scores[peer] ?? NaN)));
  return unchanged.flatMap((quiet) =>
    [1.1, 1.2, 1.3].map((factor) => {
      const found = foundIn(quiet, factor);
      const what = `+${percent(factor - 1)}, ${quiet.name}`;
      const peers = found.peers(everywhere);
      note(
        `${what}: found within ${WITHIN.join(', ')} nights ${found.ours.map(percent).join(', ')}; best peer ` +
          `${peersText(peers)}; tuned to the world ${peersText(found.peers(scoresAt(quiet.scores, quiet.found)))}`,
      );
      const compared = WITHIN.indexOf(COMPARED);
      const missed = (share = NaN): readonly number[] => [100 * (1 - share)];
      return {
        what: `not found within ${COMPARED} nights, ${what}`,
        unit: '%',
        ours: missed(found.ours[compared]),
        peer: missed(peers[compared]?.share),
        target: { by: 'difference', atMost: 0 },
      };
    }),
  );
}

interface BestPeer {
  readonly share: number;
  readonly name: string;
}

/** The shares of histories with a change from the first night on that are found within each number of nights. */
function foundIn(
  { name, world, bad }: Machine,
  factor: number,
): { readonly ours: readonly number[]; readonly peers: (limits: readonly number[]) => readonly BestPeer[] } {
  const random = seededRandom(`found ${name} ${factor}`);
  const slower = (night: number): number => (night < 0 ? 1 : factor);
  const histories = Array.from({ length: HISTORIES }, () =>
    historyOf(world, random, { scatter: 0.05, nights: Math.max(...WITHIN), bad, factor: slower }),
  );
  const first = histories.map((runs) => nightly(runs).findIndex(({ state }) => state === 'regressed'));
  const scores = histories.map(nightlyScores);
  return {
    ours: WITHIN.map((nights) => first.filter((night) => night >= 0 && night < nights).length / HISTORIES),
    peers: (limits) =>
      WITHIN.map((nights) =>
        foundByPeers(scores, limits, nights)
          .map((share, i) => ({ share, name: NIGHTLY_PEERS[i]?.name ?? '' }))
          .reduce((x, y) => (y.share > x.share ? y : x)),
      ),
  };
}

function peersText(peers: readonly BestPeer[]): string {
  return peers.map(({ share, name }) => `${percent(share)} (${name})`).join(', ');
}
