import { seededRandom } from '../../core/stats/seeded-random.ts';
import { BASELINE_RUNS } from '../../exporter/judge/baseline-reference.ts';
import type { Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import { foundRows, type Quiet } from './found-nights.ts';
import { nightlyScores } from './nightly-peers.ts';
import { historyOf, nightly } from './pipeline.ts';
import { meanWithError, percent } from './share.ts';
import { INDEPENDENT, machineNamed, MACHINES } from './worlds.ts';

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
