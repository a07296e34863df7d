import { seededRandom } from '../../core/stats/seeded-random.ts';
import { compare } from '../../exporter/judge/compare.ts';
import type { VerdictName } from '../../core/api/verdict.ts';
import type { BenchContext, Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import {
  percent,
  wilson,
  figuresOf,
  MARGIN,
  RULES,
  runMaker,
  AUTOREGRESSION_7,
  HEAVY_TAILED,
  INDEPENDENT,
  normal,
  type World,
} from './worlds.ts';

const COMPARISONS = 1000;
const SIZES = [
  [5, 5],
  [10, 10],
  [20, 5],
] as const;
/** Measures that get slower together, as percentiles of one latency do. */
const SLOWER_MEASURES = 2;

/** How the runs of two sets, all of A before B, vary when nothing changes. */
interface Machine {
  readonly name: string;
  readonly world: World;
  /** Run-to-run standard deviation, as a share of the value. */
  readonly scatter: number;
  /** By how much every run is slower than the one before. */
  readonly drift: number;
}

/** A level that walks by 0.3 standard deviations of a run from run to run. */
const WALK: World = {
  name: 'random walk',
  start: (random) => {
    let level = 0;
    return () => (level += 0.3 * normal(random)) + normal(random);
  },
};
const WANDERING: readonly Machine[] = [
  { name: 'AR(1) ρ = 0.7, scatter 5 %', world: AUTOREGRESSION_7, scatter: 0.05, drift: 0 },
  { name: 'random walk, scatter 5 %', world: WALK, scatter: 0.05, drift: 0 },
  { name: '+1 % a run, scatter 2 %', world: INDEPENDENT, scatter: 0.02, drift: 0.01 },
  { name: '+1 % a run, scatter 5 %', world: INDEPENDENT, scatter: 0.05, drift: 0.01 },
];
const STEADY: readonly Machine[] = [
  { name: 'independent, scatter 2 %', world: INDEPENDENT, scatter: 0.02, drift: 0 },
  { name: 'heavy-tailed, scatter 2 %', world: HEAVY_TAILED, scatter: 0.02, drift: 0 },
  { name: 'independent, scatter 5 %', world: INDEPENDENT, scatter: 0.05, drift: 0 },
];

const ALL = [...WANDERING, ...STEADY];
const STEADY_CHANGES = [0, 0.05, 0.1, 0.2];

/** `compare` of sets of which one follows the other: false alarms, and what it still finds. */
export async function setsRows(context: BenchContext): Promise<readonly Row[]> {
  context.note(`compare of sets, all of A before B (${COMPARISONS} comparisons per row); by ranks alone in brackets`);
  const shares = await inParallel(import.meta.url, regressedShare, cells());
  const found = new Map(cells().map((cell, i) => [cell.join(), shares[i]]));
  const of = (...cell: Cell): Shares => found.get(cell.join()) ?? { ours: NaN, byRanks: NaN };
  const rows: Row[] = [];
  for (const { name } of WANDERING) {
    for (const [a, b] of SIZES) {
      const unchanged = of(name, a, b, 0, 'after');
      rows.push(row(`false regressed, compare ${a} + ${b}, ${name}`, unchanged.ours, 2));
      context.note(
        `${name}, ${a} + ${b}: nothing changed ${text(unchanged)}; +20 % ${text(of(name, a, b, 0.2, 'after'))}`,
      );
    }
  }
  for (const { name, scatter } of STEADY) {
    for (const [a, b] of SIZES) {
      const all = STEADY_CHANGES.map((slower) => `+${100 * slower} % ${text(of(name, a, b, slower, 'after'))}`);
      context.note(`${name}, ${a} + ${b}: ${all.join(', ')}`);
    }
    if (scatter > 0.02) continue;
    rows.push(row(`+10 % not found, compare 10 + 10, ${name}`, 1 - of(name, 10, 10, 0.1, 'after').ours, 5));
  }
  for (const { name } of ALL) {
    const [none, slower] = [of(name, 10, 10, 0, 'interleaved'), of(name, 10, 10, 0.1, 'interleaved')];
    context.note(`${name}, 10 + 10 in turns (ABBA): nothing changed ${text(none)}; +10 % ${text(slower)}`);
    rows.push(row(`false regressed, compare 10 + 10 in turns, ${name}`, none.ours, 2));
  }
  return rows;
}

type Cell = readonly [machine: string, a: number, b: number, slower: number, order: 'after' | 'interleaved'];

function cells(): readonly Cell[] {
  const after = (machines: readonly Machine[], changes: readonly number[]): readonly Cell[] =>
    machines.flatMap(({ name }) =>
      SIZES.flatMap(([a, b]) => changes.map((slower) => [name, a, b, slower, 'after'] as const)),
    );
  return [
    ...after(WANDERING, [0, 0.2]),
    ...after(STEADY, STEADY_CHANGES),
    ...ALL.flatMap(({ name }) => [0, 0.1].map((slower) => [name, 10, 10, slower, 'interleaved'] as const)),
  ];
}

interface Shares {
  readonly ours: number;
  /** The same runs without their times, of which ranks alone decide. */
  readonly byRanks: number;
}

export function regressedShare(...[name, sizeA, sizeB, slower, order]: Cell): Shares {
  const machine = ALL.find((each) => each.name === name);
  if (machine === undefined) throw new RangeError(`there is no machine ${name}`);
  const { world, scatter, drift } = machine;
  const random = seededRandom(`sets ${name} ${sizeA} ${sizeB} ${slower} ${order}`);
  const found = { ours: 0, byRanks: 0 };
  for (let i = 0; i < COMPARISONS; i++) {
    const make = runMaker(world, random, scatter / Math.log1p(MARGIN));
    const runs = Array.from({ length: sizeA + sizeB }, (_, place) => {
      const isB = order === 'after' ? place >= sizeA : place % 4 === 1 || place % 4 === 2;
      const values = make(0).map((value, measure) => {
        const factor = isB && measure < SLOWER_MEASURES ? 1 + slower : 1;
        return value * factor * (1 + drift) ** place;
      });
      return { isB, figures: figuresOf(values, place) };
    });
    const side = (b: boolean) => runs.flatMap(({ isB, figures }) => (isB === b ? [figures] : []));
    const judged = (dated: boolean): VerdictName => {
      const [a, b] = [side(false), side(true)].map((each) =>
        dated ? each : each.map((figures) => ({ ...figures, start: null })),
      );
      return compare(a ?? [], b ?? [], { rules: RULES }).verdict;
    };
    const byRanks = judged(false) === 'regressed';
    if (byRanks) found.byRanks++;
    // The order of the runs only withholds what ranks decide.
    if (byRanks && judged(true) === 'regressed') found.ours++;
  }
  return { ours: found.ours / COMPARISONS, byRanks: found.byRanks / COMPARISONS };
}

function row(what: string, share: number, atMost: number): Row {
  const standardError = 100 * Math.sqrt((share * (1 - share)) / COMPARISONS);
  return { what, unit: '%', ours: [100 * share], standardError, peer: null, target: { by: 'value', atMost } };
}

function text({ ours, byRanks }: Shares): string {
  const [low, high] = wilson(Math.round(ours * COMPARISONS), COMPARISONS);
  return `${percent(ours)} (95 %: ${percent(low)} to ${percent(high)}) [${percent(byRanks)}]`;
}
