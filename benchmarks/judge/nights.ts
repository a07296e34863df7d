import { seededRandom } from '../../core/stats/seeded-random.ts';
import { BASELINE_RUNS } from '../../exporter/judge/baseline-window.ts';
import type { Row } from '../bench.ts';
import { foundRows, type Machine, type Quiet } from './found-nights.ts';
import { nightlyScores } from './nightly-peers.ts';
import { historyOf, nightly } from './pipeline.ts';
import { percent } from './share.ts';
import { AUTOREGRESSION_5, HEAVY_TAILED, INDEPENDENT, WALK, WEEKLY } from './worlds.ts';

const HISTORIES = 100;
const QUIET = 20;
const LASTING = 25;
const AFTER = 20;

interface Unchanged extends Machine {
  /** The most of 100 nights that may be red. */
  readonly atMost: number;
  /** Red nights are rare and come several at once: fewer histories would measure chance. */
  readonly histories: number;
}

/** Six worlds in which nothing changes. */
const UNCHANGED: readonly Unchanged[] = [
  { name: 'independent', world: INDEPENDENT, bad: 0, atMost: 0.25, histories: 4000 },
  { name: 'heavy tails', world: HEAVY_TAILED, bad: 0, atMost: 1, histories: 1500 },
  { name: '5 % of runs 1.4 times as slow', world: INDEPENDENT, bad: 0.05, atMost: 1, histories: 1500 },
  { name: 'AR(1) ρ = 0.5', world: AUTOREGRESSION_5, bad: 0, atMost: 1, histories: 1500 },
  { name: 'random walk', world: WALK, bad: 0, atMost: 1, histories: 1500 },
  { name: 'weekly cycle', world: WEEKLY, bad: 0, atMost: 1, histories: 1500 },
];

/** Rows of `npm run bench -- judge` on pipelines that check every night. */
export function nightlyRows(note: (line: string) => void): readonly Row[] {
  const unchanged = UNCHANGED.map((machine) => ({ ...machine, ...quietNights(machine, note) }));
  return [
    ...unchanged.map(({ name, red, atMost }) =>
      row(`red nights although nothing changed, ${name}`, '%', 100 * red, atMost),
    ),
    ...foundRows(unchanged, note),
    ...lastingRows(note),
    ...disturbedRows(),
    improvedRow(),
    ...driftRows(note),
  ];
}

function quietNights({ name, world, bad, histories }: Unchanged, note: (line: string) => void): Quiet {
  const random = seededRandom(`nights ${name}`);
  let [found, red, regressed] = [0, 0, 0];
  const scores = Array.from({ length: histories }, () => {
    const runs = historyOf(world, random, { scatter: 0.05, nights: QUIET, factor: () => 1, bad });
    nightly(runs).forEach(({ state, verdict }, n, nights) => {
      if (verdict === 'regressed') regressed++;
      if (state !== 'regressed') return;
      red++;
      if (nights[n - 1]?.state !== 'regressed') found++;
    });
    return nightlyScores(runs);
  });
  const checks = QUIET * histories;
  const shares = { found: found / checks, regressed: regressed / checks, red: red / checks };
  note(
    `${name}, ${QUIET} nights at 5 % scatter: regressions found ${percent(shares.found)}, ` +
      `verdicts regressed ${percent(shares.regressed)}, red nights ${percent(shares.red)}`,
  );
  return { ...shares, scores };
}

function lastingRows(note: (line: string) => void): readonly Row[] {
  return [0.02, 0.05, 0.1].flatMap((scatter) =>
    [1.1, 1.2, 1.3].map((factor) => {
      const random = seededRandom(`lasting ${scatter} ${factor}`);
      const [first, back]: [number[], number[]] = [[], []];
      let green = 0;
      for (let i = 0; i < HISTORIES; i++) {
        const slower = (night: number): number => (night >= 0 && night < LASTING ? factor : 1);
        const states = nightly(
          historyOf(INDEPENDENT, random, { scatter, nights: LASTING + AFTER, factor: slower }),
        ).map(({ state }) => state);
        const red = states.indexOf('regressed');
        if (red < 0 || red >= LASTING) continue;
        first.push(red + 1);
        green += states.slice(red, LASTING).filter((state) => state !== 'regressed').length;
        const end = states.slice(LASTING).findIndex((state) => state !== 'regressed');
        back.push(end < 0 ? Infinity : end + 1);
      }
      const what = `+${percent(factor - 1)} that lasts at ${percent(scatter)} scatter`;
      note(
        `${what}: found in ${first.length} of ${HISTORIES} within ${LASTING} nights, first red night ${spread(first)}, ` +
          `green nights after it ${green}, nights to green after the end ${spread(back)}`,
      );
      return row(`green nights of ${what}, once found`, 'nights', green, 0);
    }),
  );
}

function disturbedRows(): readonly Row[] {
  return [1.4, 2].map((by) => {
    const random = seededRandom(`disturbed ${by}`);
    const found = Array.from({ length: HISTORIES }, (_, i) => {
      const runs = historyOf(INDEPENDENT, random, { scatter: 0.02, nights: 5, factor: (n) => (n < 0 ? 1 : 1.25) });
      const disturbed = runs.map((values, n) => (n === i % BASELINE_RUNS ? values.map((value) => by * value) : values));
      return nightly(disturbed).some(({ state }) => state === 'regressed');
    }).filter(Boolean).length;
    const what = `histories in which +25 % is not found within 5 nights, one accepted run ${by} times as slow`;
    return row(what, '%', (100 * (HISTORIES - found)) / HISTORIES, 10);
  });
}

function improvedRow(): Row {
  const random = seededRandom('improved');
  const found = Array.from({ length: HISTORIES }, () =>
    nightly(historyOf(INDEPENDENT, random, { scatter: 0.02, nights: 4, factor: (n) => (n < 0 ? 1 : 0.75) }), {
      accept: true,
    }).some(({ verdict }) => verdict === 'improved'),
  ).filter(Boolean).length;
  return row(
    'histories in which −25 % is not improved within 4 nights',
    '%',
    (100 * (HISTORIES - found)) / HISTORIES,
    10,
  );
}

/** With --accept-passed: how many quiet nights enter the baseline is noted by whether a drift of 0.5 % a night is caught. */
function driftRows(note: (line: string) => void): readonly Row[] {
  return [0.02, 0.05].map((scatter) => {
    const random = seededRandom(`drift ${scatter}`);
    const first = Array.from({ length: HISTORIES / 2 }, () => {
      const factor = (night: number): number => 1.005 ** Math.max(0, night + 1);
      const nights = nightly(historyOf(INDEPENDENT, random, { scatter, nights: 60, factor }), {
        accept: true,
        pinned: BASELINE_RUNS,
      });
      return nights.findIndex(({ state }) => state === 'regressed') + 1;
    });
    const caught = first.filter((night) => night > 0);
    note(
      `drift of 0.5 % a night at ${percent(scatter)} scatter with --accept-passed: first red night ${spread(caught)}`,
    );
    const what = `drifts of 0.5 % a night that are not caught within 60 nights, ${percent(scatter)} scatter`;
    return row(what, '%', 100 * (1 - caught.length / first.length), 5);
  });
}

function row(what: string, unit: string, value: number, atMost: number): Row {
  return { what, unit, ours: [value], peer: null, target: { by: 'value', atMost } };
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((x, y) => x - y);
  return sorted.length === 0 ? '–' : `${sorted[sorted.length >> 1]} (at most ${sorted.at(-1)})`;
}
