import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { compare } from '../../exporter/judge/compare.ts';
import { judgeAgainstHistory } from '../../exporter/judge/history.ts';
import type { Figure, RunFigures } from '../../exporter/judge/run-figures.ts';
import type { VerdictName } from '../../core/api/verdict.ts';
import type { BenchContext, Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import { normal, percent, wilson } from './worlds.ts';

const SLICE_SECONDS = 300;
const DAY_SECONDS = 86_400;
const SLICES_PER_DAY = DAY_SECONDS / SLICE_SECONDS;

/** How the load of servers in production and their speed vary when nothing changes. */
interface Production {
  readonly name: string;
  /** Standard deviation of a server's level, as a share. */
  readonly scatter: number;
  /** How much the level of a slice of 5 minutes resembles that of the one before. */
  readonly rho: number;
  /** The standard deviation of a step of the level from slice to slice, for good. */
  readonly walk?: number;
  /** Half of the load on two of seven days. */
  readonly isWeekly?: true;
  /** In one slice of five, 1.3 to 2.3 times the load, for up to 15 minutes. */
  readonly hasBursts?: true;
  /** The index of the Pareto distribution of times to first token, which has no variance from 2 down; absent: log-normal. */
  readonly tail?: number;
}

const PRODUCTIONS: readonly Production[] = [
  { name: 'steady', scatter: 0, rho: 0 },
  { name: 'level ±4 %, ρ = 0.5', scatter: 0.04, rho: 0.5 },
  { name: 'level ±4 %, ρ = 0.8', scatter: 0.04, rho: 0.8 },
  { name: 'level ±4 %, ρ = 0.9', scatter: 0.04, rho: 0.9 },
  { name: 'level ±8 %, ρ = 0.9', scatter: 0.08, rho: 0.9 },
  { name: 'level ±4 % for hours, ρ = 0.99', scatter: 0.04, rho: 0.99 },
  { name: 'random walk of 0.5 % a slice', scatter: 0, rho: 0, walk: 0.005 },
  { name: 'weekly load, level ±4 %, ρ = 0.5', scatter: 0.04, rho: 0.5, isWeekly: true },
  { name: 'bursts of load, level ±4 %, ρ = 0.5', scatter: 0.04, rho: 0.5, hasBursts: true },
  { name: 'heavy tail, level ±2 %, ρ = 0.5', scatter: 0.02, rho: 0.5, tail: 2.2 },
];

function productionNamed(name: string): Production {
  const found = PRODUCTIONS.find((production) => production.name === name);
  if (found === undefined) throw new RangeError(`there is no production ${name}`);
  return found;
}

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

/** Requests per second in each slice of some days, the same for all servers behind a balancer: 0.4 to 1.6, once a day. */
function loadOf({ isWeekly, hasBursts }: Production, days: number, random: Random): readonly number[] {
  const weekday = Math.floor(7 * random());
  let [burst, size] = [0, 1];
  return Array.from({ length: days * SLICES_PER_DAY }, (_, slice) => {
    const day = Math.floor(slice / SLICES_PER_DAY) + weekday;
    if (hasBursts && burst === 0 && random() < 0.1) [burst, size] = [1 + Math.floor(3 * random()), 1.3 + random()];
    else burst = Math.max(0, burst - 1);
    const usual = 1 + 0.6 * Math.sin((2 * Math.PI * slice) / SLICES_PER_DAY);
    return usual * (isWeekly && day % 7 >= 5 ? 0.5 : 1) * (burst > 0 ? size : 1);
  });
}

/** Requests per second with which a server is full. */
const CAPACITY = 2.5;

/** One server, slice after slice. */
class ProductionServer {
  readonly #production: Production;
  readonly #random: Random;
  #state: number;
  #level = 0;
  #last: number | null = null;

  constructor(production: Production, random: Random) {
    this.#production = production;
    this.#random = random;
    this.#state = normal(random);
  }

  /** What another server that starts now walks away from. */
  startAt(other: ProductionServer): void {
    this.#level = other.#level;
  }

  /** A slice, after those before: the requests of its time at a rate, and how much slower the first token is. */
  slice(slice: number, rate: number, slower: number): RunFigures {
    const { scatter, rho, walk = 0 } = this.#production;
    const random = this.#random;
    const steps = this.#last === null ? 1 : slice - this.#last;
    this.#last = slice;
    const resembles = rho ** steps;
    this.#state = resembles * this.#state + Math.sqrt(1 - resembles ** 2) * normal(random);
    this.#level += walk * Math.sqrt(steps) * normal(random);
    const shift = Math.exp(scatter * this.#state + this.#level);
    const expected = rate * SLICE_SECONDS;
    const n = Math.max(1, Math.round(expected + Math.sqrt(expected) * normal(random)));
    const busy = Math.min(n / SLICE_SECONDS, 0.92 * CAPACITY);
    const [prompt, first] = this.#promptAndFirst(n);
    const ttft = (0.08 * first + (0.02 * busy) / (CAPACITY - busy)) * shift * (1 + slower);
    const itl = 0.01 * (1 + 0.1 * busy) * meanOf(spread(0.2), n, random) * shift;
    return {
      run_id: `${slice}-${random()}`,
      start: new Date(Date.UTC(2026, 0, 1) + 1000 * SLICE_SECONDS * slice).toISOString(),
      imported_at: null,
      import_position: null,
      scenario: 'production',
      fingerprint: 'one',
      load: {
        input_tokens: 500 * prompt,
        output_tokens: 120 * meanOf(spread(0.6), n, random),
        cached_input_ratio: null,
        request_rate: n / SLICE_SECONDS,
      },
      client: 'none',
      foreign_traffic: null,
      figures: [figure('time_to_first_token', ttft, n), figure('inter_token_latency', itl, n)],
    };
  }

  /** The mean length of n prompts, and of what the first token takes, which is in proportion to the prompt; both 1 on average. */
  #promptAndFirst(n: number): readonly [prompt: number, first: number] {
    const random = this.#random;
    const { tail } = this.#production;
    if (tail === undefined) {
      const prompt = meanOf(spread(0.8), n, random);
      // Long prompts count more: the squares of their lengths are 1 + spread(0.8) on average.
      return [prompt, prompt * meanOf(spread(0.6) * (1 + spread(0.8)), n, random)];
    }
    let [prompts, firsts] = [0, 0];
    for (let i = 0; i < n; i++) {
      const prompt = Math.exp(0.8 * normal(random) - 0.8 ** 2 / 2);
      prompts += prompt;
      firsts += (prompt * (1 - random()) ** (-1 / tail) * (tail - 1)) / tail;
    }
    return [prompts / n, firsts / n];
  }
}

/** The variance of log-normal values with mean 1. */
const spread = (sigma: number): number => Math.expm1(sigma ** 2);

/** The mean of n log-normal values with mean 1, which is about log-normal itself (Fenton and Wilkinson, 1960). */
function meanOf(variance: number, n: number, random: Random): number {
  const squared = Math.log1p(variance / n);
  return Math.exp(Math.sqrt(squared) * normal(random) - squared / 2);
}

const figure = (measure: string, value: number, n: number): Figure => ({
  ...{
    measure,
    stat: 'mean',
    unit: 'seconds',
    definition: 'server',
    origin: 'server',
    population: 'ok',
    clock: 'sent',
  },
  ...{ direction: 'lower', value, ci95: null, n, effective_n: null },
});
