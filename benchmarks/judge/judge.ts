import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { changePoints } from '../../exporter/judge/scenario-history.ts';
import { BASELINE_RUNS } from '../../exporter/judge/baseline-sight.ts';
import { casesOf } from '../../exporter/judge/cases.ts';
import { compare } from '../../exporter/judge/compare.ts';
import { judgeAgainstHistory } from '../../exporter/judge/history.ts';
import { defaultRules, type Rules } from '../../exporter/judge/rules.ts';
import type { RunFigures } from '../../exporter/judge/run-figures.ts';
import type { VerdictName } from '../../core/api/verdict.ts';
import type { Bench, BenchContext, Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import { nightlyRows } from './nights.ts';
import { alarms, deviation, PEERS, welchOnRequests } from './peers.ts';
import { readRepeats, type RealRun } from './repeats-file.ts';
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
  type Values,
  type World,
} from './worlds.ts';
import { setsRows } from './sets.ts';
import { sliceRows } from './slices.ts';

const CHECKS = 2000;
/** Run-to-run standard deviation as a share of the margin: the most at which the promise holds. */
const SCATTER = 0.5;
const BASELINES = [20, 10, 5];
/** Pairs of an `ab`: the fewest that decide for five gating measures. */
const PAIRS = 8;
/** Of 100 verdicts, how many may be regressed although nothing changed. */
const MAX_FALSE_PERCENT = 1;
const LONG = 1000;
/** Servers with recorded repeats, and the runs of history from which they are judged. */
const REAL = ['dynamo', 'vllm'];
const REAL_FROM = [19, 5];
const REQUESTS_PEER = "Welch's t on requests";
const PUBLISHED = PEERS.filter(({ name }) => name !== REQUESTS_PEER);
/** Names of the peers, in the order of a check's. */
const REAL_PEERS = [...PUBLISHED.map(({ name }) => name), REQUESTS_PEER];
/** Fewer checks than this say nothing. */
const MIN_CHECKS = 10;

/** Whether the judge keeps its error rates on simulated histories whose truth is known. */
export const judge: Bench = {
  name: 'judge',
  question: 'how often verdicts are wrong, and how soon slowdowns are found',
  async measure(context) {
    const rows = await checkRows(context);
    context.note('');
    context.note('nightly checks after 20 accepted runs, seeded:');
    rows.push(...(await nightlyRows((line) => context.note(`    ${line}`))));
    context.note('');
    for (const server of REAL) rows.push(...realRows(context, server));
    context.note('');
    rows.push(...(await setsRows(context)));
    context.note('');
    return [...rows, ...(await sliceRows(context)), longHistoryRow(context.rounds)];
  },
};

/** Single checks of histories in which nothing changed, and pairs of runs that are the same. */
async function checkRows(context: BenchContext): Promise<Row[]> {
  const cells = WORLDS.flatMap(({ name }) => BASELINES.map((baseline) => [name, baseline] as const));
  const trials = await inParallel(import.meta.url, checksOf, cells);
  const worlds = WORLDS.map(({ name }) => [name] as const);
  const pairs = await inParallel(import.meta.url, pairsOf, worlds);
  context.note(`five gating measures, margin 5 %, run-to-run standard deviation ${SCATTER} margins, seeded`);
  context.note('');
  context.note(`nothing changed: false alarms in 100 checks, each of a fresh history (${CHECKS} checks per row)`);
  return WORLDS.flatMap((world, w) => [
    ...BASELINES.map((baseline, b) => {
      const of = trials[w * BASELINES.length + b] ?? [];
      context.note(unchangedLine(world, baseline, of));
      const verdicts = of.map(({ verdict }) => verdict);
      return falseAlarmRow(`${world.name}, ${baseline} runs of history`, verdicts);
    }),
    falseAlarmRow(`${world.name}, ab of ${PAIRS} pairs`, pairs[w] ?? []),
  ]);
}

/** The check of a fresh history: a run and, if it is suspect, as many confirming runs as the judge requests. */
interface Trial {
  readonly verdict: VerdictName;
  readonly suspected: boolean;
  /** Whether each of the peers alarms at the first of the runs. */
  readonly peers: readonly boolean[];
}

export function checksOf(name: string, baseline: number): readonly Trial[] {
  const world = worldNamed(name);
  const random = seededRandom(`checks ${name} ${baseline}`);
  return Array.from({ length: CHECKS }, () => unchangedTrial(world, random, baseline));
}

function unchangedTrial(world: World, random: Random, baseline: number): Trial {
  const make = runMaker(world, random, SCATTER);
  const history = Array.from({ length: baseline }, (_, day) => make(day));
  const run = make(baseline);
  const confirming = (runs: number): readonly RunFigures[] =>
    Array.from({ length: runs }, (_, i) => figuresOf(make(baseline), baseline + 1 + i));
  return {
    ...checked(history.map(figuresOf), figuresOf(run, baseline), confirming, RULES),
    peers: PEERS.map((peer) => alarms(peer, history, run)),
  };
}

function checked(
  accepted: readonly RunFigures[],
  run: RunFigures,
  confirming: (runs: number) => readonly RunFigures[],
  rules: Rules,
): Omit<Trial, 'peers'> {
  const alone = judgeAgainstHistory(accepted, [run], { rules });
  if (alone.verdict !== 'suspect') return { verdict: alone.verdict, suspected: false };
  const further = alone.needs?.design === 'confirm' ? alone.needs.further : 0;
  const { verdict } = judgeAgainstHistory(accepted, [run, ...confirming(further)], { rules });
  return { verdict, suspected: true };
}

function falseAlarmRow(what: string, verdicts: readonly VerdictName[]): Row {
  const { mean, error } = meanWithError(verdicts.map((verdict) => +(verdict === 'regressed')));
  return {
    what: `false regressed, ${what}`,
    unit: '%',
    ours: [100 * mean],
    standardError: 100 * error,
    peer: null,
    target: { by: 'value', atMost: MAX_FALSE_PERCENT },
  };
}

function unchangedLine(world: World, baseline: number, trials: readonly Trial[]): string {
  const share = (counts: (trial: Trial) => boolean): number => trials.filter(counts).length / trials.length;
  const found = trials.filter(({ verdict }) => verdict === 'regressed').length;
  const [low, high] = wilson(found, trials.length);
  const peers = PEERS.map(({ name }, i) => `${name} ${percent(share((trial) => trial.peers[i] ?? false))}`);
  return (
    `${world.name}, ${baseline} runs: regressed ${percent(found / trials.length)} (95 %: ${percent(low)} to ` +
    `${percent(high)}), suspected ${percent(share(({ suspected }) => suspected))}, undecided ` +
    `${percent(share(({ verdict }) => verdict === 'undecided'))}; ${peers.join(', ')}`
  );
}

/** Verdicts of an `ab` in which nothing changed: pairs in the order AB BA. */
export function pairsOf(name: string): readonly VerdictName[] {
  const random = seededRandom(`pairs ${name}`);
  const world = worldNamed(name);
  return Array.from({ length: CHECKS }, () => {
    const make = runMaker(world, random, SCATTER);
    const a: Values[] = [];
    const b: Values[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      // One night: the weekly cycle stands still.
      for (const side of pair % 2 === 0 ? [a, b] : [b, a]) side.push(make(0));
    }
    return compare(a.map(figuresOf), b.map(figuresOf), { paired: true, rules: RULES }).verdict;
  });
}

/** Repeats on a real server on which nothing changed. Checks of one series share runs, so the intervals are too narrow. */
function realRows(context: BenchContext, server: string): readonly Row[] {
  const { runs } = readRepeats(server);
  const scatter = scatterInMargins(runs).map(({ name, margins }) => `${name} ${margins.toFixed(2)}`);
  context.note(`real ${server}, ${runs.length} repeats; standard deviation in margins: ${scatter.join(', ')}`);
  return REAL_FROM.filter((each) => runs.length - each >= MIN_CHECKS).map((from): Row => {
    const checks = checkedForward(runs, from);
    const count = (verdict: VerdictName): number => checks.filter((check) => check.verdict === verdict).length;
    const regressed = count('regressed');
    const peers = REAL_PEERS.map(
      (name, i) => `${name} ${percent(checks.filter((check) => check.peers[i]).length / checks.length)}`,
    );
    context.note(
      `    from run ${from + 1} on: regressed ${shareText(regressed, checks.length)}, suspected ` +
        `${checks.filter(({ suspected }) => suspected).length}, undecided ${count('undecided')}, unchanged ` +
        `${count('unchanged')}; ${peers.join(', ')}`,
    );
    const what = `false regressed, real ${server}, ${runs.length} repeats, from run ${from + 1} on`;
    const target = { by: 'value', atMost: MAX_FALSE_PERCENT } as const;
    return { what, unit: '%', ours: [(100 * regressed) / checks.length], peer: null, target };
  });
}

/**
 * Each run from the place `from` on, judged against at most 20 runs before it. A suspect run is confirmed by the runs after
 * it, as many as `check` requests; it stays suspect where the series ends before.
 */
function checkedForward(runs: readonly RealRun[], from: number): readonly Trial[] {
  const values = peerValues(runs);
  const all = runs.map(({ figures }) => figures);
  const rules = defaultRules(all);
  return runs.slice(from).map(({ figures, requests }, i) => {
    const place = from + i;
    const first = Math.max(0, place - BASELINE_RUNS);
    const history = values.slice(first, place);
    const published = PUBLISHED.map((peer) => alarms(peer, history, values[place] ?? []));
    const before = runs[place - 1]?.requests ?? [];
    const confirming = (further: number): readonly RunFigures[] => all.slice(place + 1, place + 1 + further);
    return {
      ...checked(all.slice(first, place), figures, confirming, rules),
      peers: [...published, requests.some((sample, j) => welchOnRequests(before[j], sample) > 1.96)],
    };
  });
}

/** Run-to-run standard deviation of each gating figure, in margins. */
function scatterInMargins(runs: readonly RealRun[]): readonly { readonly name: string; readonly margins: number }[] {
  const figures = runs.map((run) => run.figures);
  return casesOf(figures, [], defaultRules(figures))
    .filter(({ place }) => place >= 0)
    .map(({ key, a, margin }) => ({
      name: key.stat === 'value' ? key.measure : `${key.measure} ${key.stat}`,
      margins: deviation(a.map(([low]) => low)) / Math.log1p(margin),
    }));
}

/** Larger is worse; without figures that are the same in all runs, such as an error ratio of 0. */
function peerValues(runs: readonly RealRun[]): readonly Values[] {
  const all = runs.map(({ figures: { figures } }) =>
    figures.map(({ value, direction }) => {
      if (typeof value !== 'number') throw new Error('a recorded run lacks a figure');
      return direction === 'higher' ? 1 / value : value;
    }),
  );
  const varies = (i: number): boolean => new Set(all.map((values) => values[i])).size > 1;
  return all.map((values) => values.filter((_, i) => varies(i)));
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
