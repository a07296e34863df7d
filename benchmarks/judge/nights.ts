import { seededRandom } from '../../core/stats/seeded-random.ts';
import { BASELINE_RUNS } from '../../exporter/judge/baseline-sight.ts';
import type { Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import { foundByPeers, NIGHTLY_PEERS, nightlyScores, scoresAt, historyOf, nightly } from './pipeline.ts';
import { meanWithError, percent, machineNamed, INDEPENDENT, MACHINES, type Machine } from './worlds.ts';

const FOUND_HISTORIES = 600;
const FACTORS = [1.1, 1.2, 1.3];

/** Nights in which nothing changed. */
interface Quiet {
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
async function foundRows(
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
  return Array.from({ length: FOUND_HISTORIES }, () => {
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

const HISTORIES = 100;
const QUIET = 20;
const LASTING = 25;
const AFTER = 20;

/** Of 100 nights, how many may be red although nothing changed. */
const MAX_RED = 1;
const MAX_RED_INDEPENDENT = 0.25;
/** Red nights are rare and come several at once: fewer histories would measure chance. */
const QUIET_HISTORIES = 1000;
const INDEPENDENT_HISTORIES = 4000;

/** Rows of `npm run bench -- judge` on pipelines that check every night. */
export async function nightlyRows(note: (line: string) => void): Promise<readonly Row[]> {
  const names = MACHINES.map(({ name }) => [name] as const);
  const quiet = await inParallel(import.meta.url, quietNights, names);
  const unchanged = MACHINES.flatMap((machine, i) => {
    const nights = quiet[i];
    return nights === undefined ? [] : [{ ...machine, ...nights }];
  });
  for (const { name, found, regressed, red } of unchanged) {
    note(
      `${name}, ${QUIET} nights at 5 % scatter: regressions found ${percent(found)}, ` +
        `verdicts regressed ${percent(regressed)}, red nights ${percent(red.mean)}`,
    );
  }
  return [
    ...unchanged.map(({ name, red, atMost }) => ({
      ...row(`red nights although nothing changed, ${name}`, '%', 100 * red.mean, atMost),
      standardError: 100 * red.error,
    })),
    ...(await foundRows(unchanged, note)),
    ...(await lastingRows(note)),
    ...(await disturbedRows()),
    improvedRow(),
    ...(await driftRows(note)),
  ];
}

interface QuietNights extends Quiet {
  readonly regressed: number;
  readonly red: { readonly mean: number; readonly error: number };
  readonly atMost: number;
}

export function quietNights(name: string): QuietNights {
  const { world, bad } = machineNamed(name);
  const isStrict = world === INDEPENDENT && bad === 0;
  const random = seededRandom(`nights ${name}`);
  let [found, regressed] = [0, 0];
  const red: number[] = [];
  const scores = Array.from({ length: isStrict ? INDEPENDENT_HISTORIES : QUIET_HISTORIES }, () => {
    const runs = historyOf(world, random, { scatter: 0.05, nights: QUIET, factor: () => 1, bad });
    const nights = nightly(runs);
    const isRed = nights.map(({ state }) => state === 'regressed');
    regressed += nights.filter(({ verdict }) => verdict === 'regressed').length;
    found += isRed.filter((now, n) => now && !isRed[n - 1]).length;
    // The nights of one history depend on each other.
    red.push(isRed.filter(Boolean).length / QUIET);
    return nightlyScores(runs);
  });
  const checks = QUIET * red.length;
  return {
    ...{ found: found / checks, regressed: regressed / checks, red: meanWithError(red), scores },
    atMost: isStrict ? MAX_RED_INDEPENDENT : MAX_RED,
  };
}

async function lastingRows(note: (line: string) => void): Promise<readonly Row[]> {
  const cells = [0.02, 0.05, 0.1].flatMap((scatter) => [1.1, 1.2, 1.3].map((factor) => [scatter, factor] as const));
  const all = await inParallel(import.meta.url, lastingNights, cells);
  return cells.flatMap(([scatter, factor], i) => {
    const { first, back, green } = all[i] ?? { first: [], back: [], green: NaN };
    const what = `+${percent(factor - 1)} that lasts at ${percent(scatter)} scatter`;
    note(
      `${what}: found in ${first.length} of ${HISTORIES} within ${LASTING} nights, first red night ${spread(first)}, ` +
        `green nights after it ${green}, nights to green after the end ${spread(back)}`,
    );
    return [row(`green nights of ${what}, once found`, 'nights', green, 0)];
  });
}

interface LastingNights {
  /** Of the histories in which the change is found, the first red night, from 1. */
  readonly first: readonly number[];
  /** Of the same, nights to the first green one after the end. */
  readonly back: readonly number[];
  /** Green nights between. */
  readonly green: number;
}

/** What becomes of a change that ends after some nights. */
export function lastingNights(scatter: number, factor: number): LastingNights {
  const random = seededRandom(`lasting ${scatter} ${factor}`);
  const [first, back]: [number[], number[]] = [[], []];
  let green = 0;
  for (let i = 0; i < HISTORIES; i++) {
    const slower = (night: number): number => (night >= 0 && night < LASTING ? factor : 1);
    const runs = historyOf(INDEPENDENT, random, { scatter, nights: LASTING + AFTER, factor: slower });
    const states = nightly(runs).map(({ state }) => state);
    const red = states.indexOf('regressed');
    if (red < 0 || red >= LASTING) continue;
    first.push(red + 1);
    green += states.slice(red, LASTING).filter((state) => state !== 'regressed').length;
    const end = states.slice(LASTING).findIndex((state) => state !== 'regressed');
    back.push(end < 0 ? Infinity : end + 1);
  }
  return { first, back, green };
}

async function disturbedRows(): Promise<readonly Row[]> {
  const factors = [[1.4], [2]] as const;
  const missed = await inParallel(import.meta.url, disturbedMisses, factors);
  return factors.map(([by], i) =>
    shareRow(
      `histories in which +25 % is not found within 5 nights, one accepted run ${by} times as slow`,
      missed[i] ?? [],
      10,
    ),
  );
}

/** By history, whether a change is not found because of one run in the baseline. */
export function disturbedMisses(by: number): readonly boolean[] {
  const random = seededRandom(`disturbed ${by}`);
  return Array.from({ length: HISTORIES }, (_, i) => {
    const runs = historyOf(INDEPENDENT, random, { scatter: 0.02, nights: 5, factor: (n) => (n < 0 ? 1 : 1.25) });
    const disturbed = runs.map((values, n) => (n === i % BASELINE_RUNS ? values.map((value) => by * value) : values));
    return nightly(disturbed).every(({ state }) => state !== 'regressed');
  });
}

function improvedRow(): Row {
  const random = seededRandom('improved');
  const missed = Array.from({ length: HISTORIES }, () => {
    const runs = historyOf(INDEPENDENT, random, { scatter: 0.02, nights: 4, factor: (n) => (n < 0 ? 1 : 0.75) });
    return nightly(runs, { accept: true }).every(({ verdict }) => verdict !== 'improved');
  });
  return shareRow('histories in which −25 % is not improved within 4 nights', missed, 10);
}

/** With --accept-passed: how many quiet nights enter the baseline is noted by whether a drift of 0.5 % a night is caught. */
async function driftRows(note: (line: string) => void): Promise<readonly Row[]> {
  const scatters = [[0.02], [0.05]] as const;
  const all = await inParallel(import.meta.url, driftNights, scatters);
  return scatters.map(([scatter], i) => {
    const first = all[i] ?? [];
    note(
      `drift of 0.5 % a night at ${percent(scatter)} scatter with --accept-passed: first red night ` +
        spread(first.filter((night) => night > 0)),
    );
    const what = `drifts of 0.5 % a night that are not caught within 60 nights, ${percent(scatter)} scatter`;
    return shareRow(
      what,
      first.map((night) => night === 0),
      5,
    );
  });
}

/** By history, the first red night, from 1; 0 when there is none. */
export function driftNights(scatter: number): readonly number[] {
  const random = seededRandom(`drift ${scatter}`);
  return Array.from({ length: HISTORIES / 2 }, () => {
    const factor = (night: number): number => 1.005 ** Math.max(0, night + 1);
    const runs = historyOf(INDEPENDENT, random, { scatter, nights: 60, factor });
    const nights = nightly(runs, { accept: true, pinned: BASELINE_RUNS });
    return nights.findIndex(({ state }) => state === 'regressed') + 1;
  });
}

function row(what: string, unit: string, value: number, atMost: number): Row {
  return { what, unit, ours: [value], peer: null, target: { by: 'value', atMost } };
}

/** In percent. */
function shareRow(what: string, of: readonly boolean[], atMost: number): Row {
  const { mean, error } = meanWithError(of.map(Number));
  return { ...row(what, '%', 100 * mean, atMost), standardError: 100 * error };
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((x, y) => x - y);
  return sorted.length === 0 ? '–' : `${sorted[sorted.length >> 1]} (at most ${sorted.at(-1)})`;
}
