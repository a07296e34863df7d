import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { compare } from '../../exporter/judge/compare.ts';
import { judgeAgainstHistory } from '../../exporter/judge/history.ts';
import type { RunFigures } from '../../exporter/judge/run-figures.ts';
import type { VerdictName } from '../../core/api/verdict.ts';
import type { BenchContext, Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import { loadOf, productionNamed, ProductionServer, PRODUCTIONS, type Production } from './production.ts';
import { percent, wilson } from './worlds.ts';

const COMPARISONS = 1000;
/** Slices of an hour. */
const HOUR = 12;
const DAY = 24 * HOUR;
const DAYS = 20;
/** A night that is judged after the history: a regression is found in the third at the earliest. */
const NIGHTS = 3;

const DESIGNS = {
  'pairs and days': `canary beside stable, an hour, with the hour of ${DAYS} days`,
  pairs: 'canary beside stable, an hour',
  'long pairs': 'canary beside stable, three hours',
  sets: 'hour after a deploy against the hour before',
  history: `an hour against the same hour of ${DAYS} days, third day`,
} as const;
type DesignName = keyof typeof DESIGNS;
const CHANGES = [0, 0.2];

/** Asked of every design; three hours alone miss it where levels stay apart for hours (the guide has the figures). */
const MAX_FALSE_PERCENT = 1;
/** Nothing separates a change from a level that stays as long as the windows, unless other days show it. */
const WITHOUT_TARGET: ReadonlySet<string> = new Set(['level ±4 % for hours, ρ = 0.99', 'random walk of 0.5 % a slice']);
/** The largest share of +20 % of the time to first token that is not found if the servers are steady. */
const NOT_FOUND: Partial<Record<DesignName, number>> = { 'pairs and days': 10, 'long pairs': 15, history: 15 };

type Cell = readonly [design: DesignName, production: string, slower: number];
const CELLS: readonly Cell[] = (Object.keys(DESIGNS) as DesignName[]).flatMap((design) =>
  PRODUCTIONS.flatMap(({ name }) => CHANGES.map((slower): Cell => [design, name, slower])),
);

/**
 * Windows of servers in production, at one request per second on average with a daily load: how often a change is found where there is
 * none, and how often +20 % of the time to first token.
 */
export async function sliceRows(context: BenchContext): Promise<readonly Row[]> {
  context.note(`windows of servers at 1 request/s with a daily load, slices of 5 min (${COMPARISONS} per row)`);
  const found = await inParallel(import.meta.url, sliceVerdicts, CELLS);
  return CELLS.flatMap(([design, production, slower], i) => {
    const verdicts = found[i] ?? [];
    const count = (name: VerdictName): number => verdicts.filter((verdict) => verdict === name).length;
    const [low, high] = wilson(count('regressed'), verdicts.length);
    const what = `${DESIGNS[design]}, ${production}`;
    const share = (100 * count('regressed')) / verdicts.length;
    context.note(
      `${what}, ${slower === 0 ? 'nothing changed' : `TTFT +${percent(slower)}`}: regressed ${percent(share / 100)} ` +
        `(95 %: ${percent(low)} to ${percent(high)}), undecided ${percent(count('undecided') / verdicts.length)}`,
    );
    const row = (name: string, value: number, atMost: number): Row => ({
      ...{ what: `${name}, ${what}`, unit: '%', ours: [value], peer: null, target: { by: 'value', atMost } },
    });
    const hasTarget = design === 'pairs and days' || design === 'history' || !WITHOUT_TARGET.has(production);
    if (slower === 0) return hasTarget ? [row('false regressed', share, MAX_FALSE_PERCENT)] : [];
    const atMost = production === PRODUCTIONS[0]?.name ? NOT_FOUND[design] : undefined;
    return atMost === undefined ? [] : [row('+20 % TTFT not found', 100 - share, atMost)];
  });
}

export function sliceVerdicts(...[design, name, slower]: Cell): readonly VerdictName[] {
  const random = seededRandom(`slices ${design} ${name} ${slower}`);
  const production = productionNamed(name);
  return Array.from({ length: COMPARISONS }, () => verdictOf(design, production, slower, random));
}

function verdictOf(design: DesignName, production: Production, slower: number, random: Random): VerdictName {
  const load = loadOf(production, DAYS + NIGHTS + 2, random);
  const length = design === 'long pairs' ? 3 * HOUR : HOUR;
  // A slower server when the rate is at its average of 1 request per second; any hour otherwise.
  const start = slower === 0 ? Math.floor(random() * DAY) : DAY - length / 2;
  const window = (server: ProductionServer, from: number, change: number, slices = length): readonly RunFigures[] =>
    Array.from({ length: slices }, (_, i) => server.slice(from + i, load[from + i] ?? NaN, change));
  const a = new ProductionServer(production, random);
  const days = design === 'pairs and days' || design === 'history' ? DAYS : 0;
  const before = Array.from({ length: days }, (_, day) => window(a, day * DAY + start, 0));
  const now = days * DAY + start;
  if (design === 'history') {
    const nights = Array.from({ length: NIGHTS }, (_, night) => window(a, now + night * DAY, slower));
    return judgeAgainstHistory(before.map(whole), nights.map(whole)).verdict;
  }
  if (design === 'sets') return compare(window(a, now, 0), window(a, now + HOUR, slower)).verdict;
  const stable = window(a, now, 0, 1);
  const b = new ProductionServer(production, random);
  b.startAt(a);
  const rest = window(a, now + 1, 0, length - 1);
  return compare([...stable, ...rest], window(b, now, slower), { paired: true, days: before }).verdict;
}

/** Slices that follow each other as one window, by their requests. */
function whole(slices: readonly RunFigures[]): RunFigures {
  const [first] = slices;
  if (first === undefined) throw new RangeError('there is no slice');
  const requests = slices.map(({ figures }) => figures[0]?.n ?? NaN);
  const mean = (valueOf: (slice: RunFigures) => number | null): number => {
    const sum = slices.reduce((all, slice, i) => all + (valueOf(slice) ?? NaN) * (requests[i] ?? NaN), 0);
    return sum / requests.reduce((all, n) => all + n, 0);
  };
  return {
    ...first,
    load: {
      input_tokens: mean(({ load }) => load.input_tokens),
      output_tokens: mean(({ load }) => load.output_tokens),
      cached_input_ratio: null,
      request_rate: slices.reduce((sum, { load }) => sum + (load.request_rate ?? NaN), 0) / slices.length,
    },
    figures: first.figures.map((one, i) => ({
      ...one,
      value: mean(({ figures }) => figures[i]?.value as number),
      n: requests.reduce((sum, n) => sum + n, 0),
    })),
  };
}
