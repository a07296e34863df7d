import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { compare } from '../../exporter/judge/compare.ts';
import { judgeAgainstHistory } from '../../exporter/judge/history.ts';
import type { RunFigures, Figure } from '../../exporter/judge/run-figures.ts';
import type { VerdictName } from '../../core/api/verdict.ts';
import type { BenchContext, Row } from '../bench.ts';
import { inParallel } from '../in-parallel.ts';
import { normal, percent, wilson } from './worlds.ts';

const COMPARISONS = 1000;
const SLICE_SECONDS = 300;
const SLICES = 12;
const DAYS = 20;
const HOUR_SECONDS = 3600;

/**
 * How the level of a server varies beside its load: its standard deviation, and how much a slice of 5 minutes resembles the one before.
 * In the last one it stays for as long as the windows are, so that no hour separates it from a change: it has no target.
 */
const LEVELS = [
  { name: 'steady', scatter: 0, rho: 0 },
  { name: 'level ±4 %, ρ = 0.5', scatter: 0.04, rho: 0.5 },
  { name: 'level ±4 %, ρ = 0.8', scatter: 0.04, rho: 0.8 },
] as const;

const DESIGNS = {
  pairs: 'canary beside stable, an hour',
  sets: 'hour after a deploy against the hour before',
  history: `an hour against the same hour of ${DAYS} days`,
} as const;
type DesignName = keyof typeof DESIGNS;
const CHANGES = [0, 0.2];

type Cell = readonly [design: DesignName, level: string, slower: number];
const CELLS: readonly Cell[] = (Object.keys(DESIGNS) as DesignName[]).flatMap((design) =>
  LEVELS.flatMap(({ name }) => CHANGES.map((slower): Cell => [design, name, slower])),
);

/**
 * Windows of servers in production, at one request per second on average with a daily load: how often a change is found where there is
 * none, and how often +20 % of the time to first token.
 */
export async function sliceRows(context: BenchContext): Promise<readonly Row[]> {
  context.note(`windows of servers at 1 request/s with a daily load, slices of 5 min (${COMPARISONS} per row)`);
  const found = await inParallel(import.meta.url, sliceVerdicts, CELLS);
  const rows: Row[] = [];
  for (const [i, [design, level, slower]] of CELLS.entries()) {
    const verdicts = found[i] ?? [];
    const regressed = verdicts.filter((verdict) => verdict === 'regressed').length;
    const undecided = verdicts.filter((verdict) => verdict === 'undecided').length;
    const [low, high] = wilson(regressed, verdicts.length);
    const what = `${DESIGNS[design]}, ${level}`;
    context.note(
      `${what}, ${slower === 0 ? 'nothing changed' : `TTFT +${percent(slower)}`}: regressed ${percent(regressed / verdicts.length)} ` +
        `(95 %: ${percent(low)} to ${percent(high)}), undecided ${percent(undecided / verdicts.length)}`,
    );
    const share = (100 * regressed) / verdicts.length;
    if (slower === 0 && level !== LEVELS.at(-1)?.name)
      rows.push({
        what: `false regressed, ${what}`,
        unit: '%',
        ours: [share],
        peer: null,
        target: { by: 'value', atMost: 1 },
      });
    else if (design === 'pairs' && slower > 0 && level === LEVELS[0].name)
      rows.push({
        what: `+20 % TTFT not found, ${what}`,
        unit: '%',
        ours: [100 - share],
        peer: null,
        target: { by: 'value', atMost: 15 },
      });
  }
  return rows;
}

export function sliceVerdicts(design: DesignName, level: string, slower: number): readonly VerdictName[] {
  const random = seededRandom(`slices ${design} ${level} ${slower}`);
  return Array.from({ length: COMPARISONS }, () => verdictOf(design, level, slower, random));
}

function verdictOf(design: DesignName, level: string, slower: number, random: Random): VerdictName {
  // Of a slower server when the rate is at its average of 1 request per second.
  const start = slower === 0 ? random() * 24 * HOUR_SECONDS : -HOUR_SECONDS / 2;
  if (design === 'history') {
    const server = serverOf(level, random);
    const days = Array.from({ length: DAYS + 3 }, (_, day) =>
      server(start, HOUR_SECONDS, day < DAYS ? 0 : slower, day),
    );
    return judgeAgainstHistory(days.slice(0, DAYS), days.slice(DAYS)).verdict;
  }
  const a = serverOf(level, random);
  const hour = (server: typeof a, from: number, change: number): RunFigures[] =>
    Array.from({ length: SLICES }, (_, i) => server(from + i * SLICE_SECONDS, SLICE_SECONDS, change, 0));
  if (design === 'sets') return compare(hour(a, start, 0), hour(a, start + HOUR_SECONDS, slower)).verdict;
  return compare(hour(a, start, 0), hour(serverOf(level, random), start, slower), { paired: true }).verdict;
}

/** What windows of one server are: each follows the one before. `from` is the second of the day. */
function serverOf(
  level: string,
  random: Random,
): (from: number, seconds: number, slower: number, day: number) => RunFigures {
  const { scatter, rho } = LEVELS.find(({ name }) => name === level) ?? LEVELS[0];
  let state = normal(random);
  return (from, seconds, slower, day) => {
    state = rho * state + Math.sqrt(1 - rho ** 2) * normal(random);
    // From 0.4 to 1.6 requests per second, and a queue that grows with them.
    const rate = 1 + 0.6 * Math.sin((2 * Math.PI * from) / (24 * HOUR_SECONDS));
    const n = Math.max(1, Math.round(rate * seconds + Math.sqrt(rate * seconds) * normal(random)));
    const shift = Math.exp(scatter * state);
    // Means of log-normal values: of prompts with σ = 0.8, of what the first token takes beside its prompt 0.6, of gaps 0.2.
    const mean = (sigma: number): number => 1 + Math.sqrt((Math.exp(sigma ** 2) - 1) / n) * normal(random);
    const prompt = 500 * mean(0.8);
    const ttft = (0.08 * (prompt / 500) * mean(0.6) + (0.02 * rate) / (2.5 - rate)) * shift * (1 + slower);
    const itl = 0.01 * (1 + 0.1 * rate) * mean(0.2) * shift;
    return {
      run_id: `${day}-${from}-${random()}`,
      start: new Date(Date.UTC(2026, 0, 1 + day) + 1000 * from).toISOString(),
      imported_at: null,
      position: null,
      scenario: 'production',
      fingerprint: 'one',
      load: {
        input_tokens: prompt,
        output_tokens: 120 * mean(0.6),
        cached_input_ratio: null,
        request_rate: n / seconds,
      },
      client: 'none',
      foreign_traffic: null,
      figures: [figure('time_to_first_token', ttft, n), figure('inter_token_latency', itl, n)],
    };
  };
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
