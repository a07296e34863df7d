import { seededRandom } from '../../core/stats/seeded-random.ts';
import type { Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import { foundByPeers, NIGHTLY_PEERS, nightlyScores, scoresAt } from './nightly-peers.ts';
import { historyOf, nightly } from './pipeline.ts';
import { meanWithError, percent } from './share.ts';
import { machineNamed, type Machine } from './worlds.ts';

const HISTORIES = 600;
const FACTORS = [1.1, 1.2, 1.3];

/** Nights in which nothing changed. */
export interface Quiet {
  /** Share of the checks that find a regression. */
  readonly found: number;
  /** Of each history, by peer and night. */
  readonly scores: readonly (readonly (readonly number[])[])[];
}

/** Nights after a change of one measure by which a share of the histories has to be found. */
const WITHIN = [3, 5, 8];
const COMPARED = 5;

/**
 * What is found beside other rules at equal rates of false alarms: each has the one score at which alarms begin in as many nights as
 * ours do, in the world where they begin most often; and, for information, the score at which it raises as many as ours in this world.
 */
export async function foundRows(
  unchanged: readonly (Machine & Quiet)[],
  note: (line: string) => void,
): Promise<readonly Row[]> {
  const alarms = Math.max(...unchanged.map(({ found }) => found));
  const kept = unchanged.map(({ scores }) => scoresAt(scores, alarms));
  const everywhere = NIGHTLY_PEERS.map((_, peer) => Math.max(...kept.map((scores) => scores[peer] ?? NaN)));
  note(`false alarms of each rule begin in at most ${percent(alarms)} of the nights of any world, as ours do`);
  const cells = unchanged.flatMap((quiet) => FACTORS.map((factor) => ({ quiet, factor })));
  const found = await inParallel(
    import.meta.url,
    changedHistories,
    cells.map(({ quiet, factor }) => [quiet.name, factor] as const),
  );
  return cells.map(({ quiet, factor }, i) => {
    const histories = found[i] ?? [];
    const what = `+${percent(factor - 1)}, ${quiet.name}`;
    const ours = WITHIN.map((nights) => meanWithError(oursWithin(histories, nights).map(Number)).mean);
    const tuned = scoresAt(quiet.scores, quiet.found);
    const text = (limits: readonly number[]): string =>
      WITHIN.map((nights) => bestPeer(histories, limits, nights))
        .map(({ hits, name }) => `${percent(meanWithError(hits.map(Number)).mean)} (${name})`)
        .join(', ');
    note(
      `${what}: found within ${WITHIN.join(', ')} nights ${ours.map(percent).join(', ')}; best peer ` +
        `${text(everywhere)}; tuned to the world ${text(tuned)}`,
    );
    const mine = oursWithin(histories, COMPARED);
    const { hits } = bestPeer(histories, everywhere, COMPARED);
    const missed = (of: readonly boolean[]): readonly number[] => [100 * meanWithError(of.map((hit) => +!hit)).mean];
    return {
      what: `not found within ${COMPARED} nights, ${what}`,
      unit: '%',
      ours: missed(mine),
      peer: missed(hits),
      // Of the difference in the same histories.
      standardError: 100 * meanWithError(mine.map((hit, history) => +(hits[history] ?? false) - +hit)).error,
      target: { by: 'difference', atMost: 0 },
    };
  });
}

/** A history with a change from the first night on. */
interface Changed {
  /** The first red night; −1 when there is none. */
  readonly first: number;
  /** By peer and night. */
  readonly scores: readonly (readonly number[])[];
}

export function changedHistories(name: string, factor: number): readonly Changed[] {
  const { world, bad } = machineNamed(name);
  const random = seededRandom(`found ${name} ${factor}`);
  const slower = (night: number): number => (night < 0 ? 1 : factor);
  return Array.from({ length: HISTORIES }, () => {
    const runs = historyOf(world, random, { scatter: 0.05, nights: Math.max(...WITHIN), bad, factor: slower });
    return { first: nightly(runs).findIndex(({ state }) => state === 'regressed'), scores: nightlyScores(runs) };
  });
}

function oursWithin(histories: readonly Changed[], nights: number): readonly boolean[] {
  return histories.map(({ first }) => first >= 0 && first < nights);
}

/** The rule that finds most with these scores, and in which of the histories. */
function bestPeer(
  histories: readonly Changed[],
  limits: readonly number[],
  nights: number,
): { readonly name: string; readonly hits: readonly boolean[] } {
  const scores = histories.map((history) => history.scores);
  const [best] = foundByPeers(scores, limits, nights)
    .map((hits, peer) => ({ hits, name: NIGHTLY_PEERS[peer]?.name ?? '', n: hits.filter(Boolean).length }))
    .toSorted((x, y) => y.n - x.n);
  return best ?? { name: '', hits: [] };
}
