import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { VerdictName } from '../../core/api/verdict.ts';
import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { compare } from '../../exporter/judge/compare.ts';
import { judgeAgainstHistory } from '../../exporter/judge/history.ts';
import { runProgram } from '../child-program.ts';
import type { Workshop } from '../workshop.ts';
import { judgedByPeer, PEERS } from './peers.ts';
import { figuresOf, RULES, runMaker, type Values, type World } from './worlds.ts';

/** Pairs of an `ab`: the fewest that decide for five gating measures. */
const PAIRS = 8;

export interface Check {
  readonly verdict: VerdictName;
  readonly suspected: boolean;
  /** Runs that it took. */
  readonly runs: number;
}

/** One nightly check: a run and, if it is suspect, as many confirming runs on the same day as the judge requests. */
export function check(history: readonly Values[], make: (day: number) => Values, day: number): Check & { run: Values } {
  const accepted = history.map(figuresOf);
  const run = make(day);
  const fresh = [figuresOf(run, history.length)];
  const alone = judgeAgainstHistory(accepted, fresh, { rules: RULES });
  if (alone.verdict !== 'suspect') return { verdict: alone.verdict, suspected: false, runs: 1, run };
  const confirming = alone.needs?.design === 'confirm' ? alone.needs.further : 0;
  for (let i = 1; i <= confirming; i++) fresh.push(figuresOf(make(day), history.length + i));
  const { verdict } = judgeAgainstHistory(accepted, fresh, { rules: RULES });
  return { verdict, suspected: true, runs: 1 + confirming, run };
}

export interface Trial {
  readonly ours: Check;
  /** One per peer, for the run that ours was the first to see. */
  readonly peers: readonly { alarm: boolean; score: number }[];
}

/** One check of a fresh history in which nothing changed. */
export function unchangedTrial(world: World, random: Random, scatter: number, baseline: number): Trial {
  const make = runMaker(world, random, scatter);
  const history = Array.from({ length: baseline }, (_, day) => make(day));
  const ours = check(history, make, baseline);
  return { ours, peers: PEERS.map((peer) => judgedByPeer(peer, history, ours.run)) };
}

/** An `ab` in which nothing changed, or B is slower: pairs in the order AB BA. */
export function pairedTrial(world: World, random: Random, scatter: number, slower: number): VerdictName {
  const make = runMaker(world, random, scatter);
  const a: Values[] = [];
  const b: Values[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    // One night: the weekly cycle stands still.
    if (pair % 2 === 0) a.push(make(0));
    b.push(make(0, slower));
    if (pair % 2 === 1) a.push(make(0));
  }
  return compare(a.map(figuresOf), b.map(figuresOf), { paired: true, rules: RULES }).verdict;
}

export interface Found {
  /** Runs from the change to the verdict; null: not found. */
  readonly ours: number | null;
  /** One per peer, at the score from which it alarms as often as ours when nothing changed. */
  readonly peers: readonly (number | null)[];
}

/** Nights after the change in which it may be found. */
export const NIGHTS = 10;

/** A history that becomes slower after some nights. Runs that passed are accepted; for peers all but alarming ones are. */
export function slowdownTrial(
  world: World,
  random: Random,
  scatter: number,
  slower: number,
  thresholds: readonly number[],
): Found {
  const make = runMaker(world, random, scatter);
  const quiet = Math.floor(random() * NIGHTS);
  const history = Array.from({ length: 20 }, (_, day) => make(day));
  const peerHistory = [...history];
  let ours: number | null = null;
  let runs = 0;
  const peers = PEERS.map((): number | null => null);
  for (let night = 0; night < quiet + NIGHTS; night++) {
    const slow = night >= quiet ? slower : 0;
    const { verdict, runs: made, run } = check(history.slice(-20), (day) => make(day, slow), 20 + night);
    if (slow > 0 && ours === null) {
      runs += made;
      if (verdict === 'regressed') ours = runs;
    }
    if (verdict === 'unchanged' || verdict === 'improved') history.push(run);
    PEERS.forEach((peer, i) => {
      if (slow === 0 || peers[i] !== null) return;
      if (judgedByPeer(peer, peerHistory, run).score > (thresholds[i] ?? Infinity)) peers[i] = night - quiet + 1;
    });
    peerHistory.push(run);
  }
  return { ours, peers };
}

const PACKAGE = 'apache-otava==0.8.0';
const PROGRAM = fileURLToPath(new URL('otava-program.py', import.meta.url));
const HISTORY = 20;

/** Series of each change. */
const SERIES = 30;

export interface OtavaResult {
  /** New changes for the worse per night. */
  readonly alarmsPerCheck: number;
  /** Share of the series with an alarm in time. */
  readonly found: number;
}

/**
 * Apache Otava on series of a history and some nights, by world and by how many margins the first measure is slower in all of these.
 * Throws `Unavailable` where it cannot be installed.
 */
export async function otava(
  workshop: Workshop,
  worlds: readonly World[],
  scatter: number,
  changes: readonly number[],
): Promise<ReadonlyMap<World, readonly OtavaResult[]>> {
  const input = worlds.flatMap((world) =>
    changes.flatMap((slower) => {
      const random = seededRandom(`otava ${world.name} ${scatter} ${slower}`);
      return Array.from({ length: SERIES }, () => {
        const make = runMaker(world, random, scatter);
        const day = (at: number): Values => make(at, at < HISTORY ? 0 : slower);
        return { values: Array.from({ length: HISTORY + NIGHTS }, (_, at) => day(at)), from: HISTORY };
      });
    }),
  );
  const alarms = await otavaAlarms(workshop, input);
  const resultOf = (cell: number): OtavaResult => {
    const own = alarms.slice(cell * SERIES, (cell + 1) * SERIES);
    return {
      alarmsPerCheck: own.reduce((sum, each) => sum + each.length, 0) / (SERIES * NIGHTS),
      found: own.filter((each) => each.length > 0).length / SERIES,
    };
  };
  return new Map(worlds.map((world, w) => [world, changes.map((_, c) => resultOf(w * changes.length + c))]));
}

/** Per series the runs, from the place `from` on, after which Otava reported a new change for the worse. */
export async function otavaAlarms(
  workshop: Workshop,
  series: readonly { readonly values: readonly Values[]; readonly from: number }[],
): Promise<readonly (readonly number[])[]> {
  const python = await workshop.python([PACKAGE]);
  const file = join(workshop.folder, 'otava.json');
  await writeFile(file, JSON.stringify(series));
  const { stdout } = await runProgram(python, [PROGRAM, file], { timeoutSeconds: 600 });
  return JSON.parse(stdout) as readonly (readonly number[])[];
}
