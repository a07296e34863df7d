import { seededRandom } from '../../core/stats/seeded-random.ts';
import { changePoints } from '../../exporter/judge/scenario-history.ts';
import { judgeAgainstHistory } from '../../exporter/judge/history.ts';
import type { VerdictName } from '../../core/api/verdict.ts';
import { unlessUnavailable, type Bench, type BenchContext, type Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import { nightlyRows } from './nights.ts';
import {
  otava,
  otavaAlarms,
  NIGHTS,
  pairedTrial,
  slowdownTrial,
  unchangedTrial,
  type OtavaResult,
  type Trial,
} from './trials.ts';
import { PEERS } from './peers.ts';
import { checkedForward, checkedInRandomOrders, peerValues, REAL_PEERS, scatterInMargins } from './real-histories.ts';
import { readRepeats } from './repeats-file.ts';
import {
  meanWithError,
  percent,
  shareText,
  wilson,
  figuresOf,
  RULES,
  runMaker,
  worldNamed,
  WORLDS,
  type World,
} from './worlds.ts';
import { setsRows } from './sets.ts';
import { sliceRows } from './slices.ts';

const CHECKS = 2000;
const HISTORIES = 100;
/** Run-to-run standard deviation as a share of the margin: the most at which the promise holds. */
const SCATTER = 0.5;
const BASELINES = [20, 10, 5];
/** In margins. */
const SLOWDOWNS = [0.5, 1, 2, 4];
const LONG = 1000;
/** Servers with recorded repeats, and the runs of history from which they are judged. */
const REAL = ['dynamo', 'vllm'];
const REAL_FROM = [19, 5];
/** Fewer checks than this say nothing. */
const MIN_CHECKS = 10;
const ORDERS = 100;

/** Whether the judge keeps its error rates on simulated histories whose truth is known. */
export const judge: Bench = {
  name: 'judge',
  question: 'how often verdicts are wrong, and how soon slowdowns are found',
  async measure(context) {
    // Python has a process of its own: it runs beside the simulations.
    const asked = unlessSkipped(context, () => otava(context.workshop, WORLDS, SCATTER, [0, ...SLOWDOWNS]));
    const rows = await checkRows(context, asked);
    context.note('');
    context.note('nightly checks after 20 accepted runs, seeded:');
    rows.push(...(await nightlyRows((line) => context.note(`    ${line}`))));
    context.note('');
    for (const server of REAL) rows.push(...(await realRows(context, server)));
    context.note('');
    rows.push(...(await setsRows(context)));
    context.note('');
    return [...rows, ...(await sliceRows(context)), longHistoryRow(context.rounds)];
  },
};

/** Single checks: of histories in which nothing changed, and of those that become slower. */
async function checkRows(
  context: BenchContext,
  asked: Promise<ReadonlyMap<World, readonly OtavaResult[]> | null>,
): Promise<Row[]> {
  const cells = WORLDS.flatMap(({ name }) => BASELINES.map((baseline) => [name, baseline] as const));
  const trials = await inParallel(import.meta.url, checksOf, cells);
  const pairs = await inParallel(
    import.meta.url,
    pairsOf,
    WORLDS.map(({ name }) => [name] as const),
  );
  const thresholds = WORLDS.map((_, w) => equalThresholds(trials[w * BASELINES.length] ?? []));
  const changes = WORLDS.flatMap(({ name }, w) =>
    SLOWDOWNS.map((slower) => [name, slower, thresholds[w] ?? []] as const),
  );
  const slowdowns = await inParallel(import.meta.url, slowdownLine, changes);
  const byOtava = await asked;

  context.note(`five gating measures, margin 5 %, run-to-run standard deviation ${SCATTER} margins, seeded`);
  context.note('');
  context.note(`nothing changed: false alarms in 100 checks, each of a fresh history (${CHECKS} checks per row)`);
  const rows = WORLDS.flatMap((world, w) => {
    const own = BASELINES.map((baseline, b) => {
      const of = trials[w * BASELINES.length + b] ?? [];
      context.note(unchangedLine(world, baseline, of));
      return falseAlarmRow(`${world.name}, ${baseline} runs of history`, of);
    });
    context.note(pairsLine(pairs[w] ?? []));
    const found = byOtava?.get(world)?.[0];
    if (found !== undefined) context.note(`    Otava: ${percent(found.alarmsPerCheck)}`);
    return own;
  });
  context.note('');
  context.note(
    `one measure is slower from a random night on: share found within ${NIGHTS} nights, runs to the verdict (median); ` +
      'peers at the score from which they alarm no more often than our upper bound when nothing changed',
  );
  WORLDS.forEach((world, w) => {
    for (const line of slowdowns.slice(w * SLOWDOWNS.length, (w + 1) * SLOWDOWNS.length)) context.note(line);
    const found = byOtava?.get(world)?.slice(1);
    const shares = found?.map((each, c) => `${SLOWDOWNS[c]} margins ${percent(each.found)}`);
    if (shares !== undefined) context.note(`    Otava as it is: ${shares.join(', ')}`);
  });
  return rows;
}

export function checksOf(name: string, baseline: number): readonly Trial[] {
  const world = worldNamed(name);
  const random = seededRandom(`checks ${name} ${baseline}`);
  return Array.from({ length: CHECKS }, () => unchangedTrial(world, random, SCATTER, baseline));
}

function falseAlarmRow(what: string, trials: readonly Trial[]): Row {
  const { mean, error } = meanWithError(trials.map(({ ours }) => +(ours.verdict === 'regressed')));
  return {
    what: `false regressed, ${what}`,
    unit: '%',
    ours: [100 * mean],
    standardError: 100 * error,
    peer: null,
    target: { by: 'value', atMost: 1 },
  };
}

function unchangedLine(world: World, baseline: number, trials: readonly Trial[]): string {
  const share = (counts: (trial: Trial) => boolean): number => trials.filter(counts).length / trials.length;
  const alarms = trials.filter(({ ours }) => ours.verdict === 'regressed').length;
  const [low, high] = wilson(alarms, trials.length);
  const peers = PEERS.map(({ name }, i) => `${name} ${percent(share((trial) => trial.peers[i]?.alarm ?? false))}`);
  return (
    `${world.name}, ${baseline} runs: regressed ${percent(alarms / trials.length)} (95 %: ${percent(low)} to ` +
    `${percent(high)}), suspected ${percent(share(({ ours }) => ours.suspected))}, undecided ` +
    `${percent(share(({ ours }) => ours.verdict === 'undecided'))}; ${peers.join(', ')}`
  );
}

export function pairsOf(name: string): readonly VerdictName[] {
  const random = seededRandom(`pairs ${name}`);
  const world = worldNamed(name);
  return Array.from({ length: CHECKS }, () => pairedTrial(world, random, SCATTER, 0));
}

function pairsLine(verdicts: readonly VerdictName[]): string {
  const regressed = verdicts.filter((verdict) => verdict === 'regressed').length;
  const [low, high] = wilson(regressed, CHECKS);
  const undecided = verdicts.filter((verdict) => verdict === 'undecided').length / CHECKS;
  return (
    `    ab of 8 pairs: regressed ${percent(regressed / CHECKS)} (95 %: ${percent(low)} to ${percent(high)}), ` +
    `undecided ${percent(undecided)}`
  );
}

/** Per peer the score that as many unchanged runs exceed as our false alarms are at most. */
function equalThresholds(trials: readonly Trial[]): readonly number[] {
  const alarms = trials.filter(({ ours }) => ours.verdict === 'regressed').length;
  const allowed = Math.floor(wilson(alarms, trials.length)[1] * trials.length);
  return PEERS.map((_, i) => {
    const scores = trials.map(({ peers }) => peers[i]?.score ?? NaN).sort((x, y) => y - x);
    return scores[allowed] ?? NaN;
  });
}

export function slowdownLine(name: string, slower: number, thresholds: readonly number[]): string {
  const world = worldNamed(name);
  const random = seededRandom(`slowdown ${name} ${slower}`);
  const found = Array.from({ length: HISTORIES }, () => slowdownTrial(world, random, SCATTER, slower, thresholds));
  const text = (runs: readonly (number | null)[]): string => {
    const all = runs.filter((one) => one !== null).sort((x, y) => x - y);
    return `${percent(all.length / runs.length)}${all.length === 0 ? '' : ` after ${all[all.length >> 1]}`}`;
  };
  const pairs = Array.from({ length: HISTORIES }, () => pairedTrial(world, random, SCATTER, slower));
  const byPairs = pairs.filter((verdict) => verdict === 'regressed').length / HISTORIES;
  const peers = PEERS.map((peer, i) => `${peer.name} ${text(found.map((each) => each.peers[i] ?? null))}`);
  // The two fixed thresholds are one rule once their thresholds are set to the same rate.
  return (
    `${name}, ${slower} margins slower: ours ${text(found.map(({ ours }) => ours))}, one ab ${percent(byPairs)}; ` +
    peers.slice(1).join(', ').replace('fixed 10 %', 'fixed threshold')
  );
}

let otavaSkipped = false;

/** What Otava answers; null, said once, where it cannot be installed. */
async function unlessSkipped<T>(context: BenchContext, ask: () => Promise<T>): Promise<T | null> {
  if (otavaSkipped) return null;
  const response = await unlessUnavailable(context, 'Otava', ask());
  otavaSkipped = response === null;
  return response;
}

/**
 * Repeats on a real server on which nothing changed. Checks of one series share runs, so the intervals are too narrow; the
 * random orders only show what the order adds.
 */
async function realRows(context: BenchContext, server: string): Promise<readonly Row[]> {
  const { runs } = readRepeats(server);
  const scatter = scatterInMargins(runs).map(({ name, margins }) => `${name} ${margins.toFixed(2)}`);
  context.note(`real ${server}, ${runs.length} repeats; standard deviation in margins: ${scatter.join(', ')}`);
  const rows: Row[] = [];
  for (const from of REAL_FROM.filter((each) => runs.length - each >= MIN_CHECKS)) {
    const checks = checkedForward(runs, from);
    const count = (verdict: VerdictName): number => checks.filter((check) => check.verdict === verdict).length;
    const what = `false regressed, real ${server}, ${runs.length} repeats, from run ${from + 1} on`;
    const alarms = count('regressed');
    const target = { by: 'value', atMost: 1 } as const;
    rows.push({ what, unit: '%', ours: [(100 * alarms) / checks.length], peer: null, target });
    const mixed = checkedInRandomOrders(runs, from, ORDERS);
    const peers = REAL_PEERS.map(
      (name, i) => `${name} ${percent(checks.filter((check) => check.peers[i]).length / checks.length)}`,
    );
    const found = await unlessSkipped(context, () =>
      otavaAlarms(context.workshop, [{ values: peerValues(runs), from }]),
    );
    if (found) peers.push(`Otava ${percent((found[0]?.length ?? 0) / checks.length)}`);
    context.note(
      `    from run ${from + 1} on: regressed ${shareText(alarms, checks.length)}, suspected ` +
        `${checks.filter(({ suspected }) => suspected).length}, undecided ${count('undecided')}, unchanged ` +
        `${count('unchanged')}; in ${ORDERS} random orders regressed ` +
        `${percent(mixed.filter(({ verdict }) => verdict === 'regressed').length / mixed.length)}; ${peers.join(', ')}`,
    );
  }
  return rows;
}

function longHistoryRow(rounds: number): Row {
  const [world] = WORLDS;
  if (world === undefined) throw new RangeError('there is no world');
  const make = runMaker(world, seededRandom('long'), SCATTER);
  const runs = Array.from({ length: LONG }, (_, day) => figuresOf(make(day, day > LONG / 2 ? 4 : 0), day));
  const ours = Array.from({ length: rounds }, () => {
    const begun = performance.now();
    judgeAgainstHistory(runs.slice(0, -1), runs.slice(-1), { rules: RULES });
    changePoints(runs, { rules: RULES });
    return performance.now() - begun;
  });
  const what = `judging the newest of ${LONG} runs, and the change points of all`;
  return { what, unit: 'ms', ours, peer: null, target: { by: 'value', atMost: 1000 } };
}
