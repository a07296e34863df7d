import { seededRandom, type Random } from '../../core/stats/seeded-random.ts';
import { BASELINE_RUNS } from '../../exporter/judge/baseline-window.ts';
import { foldBaseline } from '../../exporter/judge/baseline.ts';
import type { BaselineEntry, ScenarioStateName } from '../../core/api/scenarios.ts';
import type { VerdictEntry, VerdictName } from '../../core/api/verdict.ts';
import { judgeNight } from '../../exporter/judge/check-scenario.ts';
import type { RunFigures } from '../../exporter/judge/run-figures.ts';
import { stateOf } from '../../exporter/judge/scenario-state.ts';
import type { Row } from '../bench.ts';
import { percent } from './share.ts';
import { figuresOf, MARGIN, RULES, runMaker, type Values } from './series.ts';
import { AUTOREGRESSION_5, HEAVY_TAILED, INDEPENDENT, WALK, WEEKLY, type World } from './worlds.ts';

/** What a night of a simulated pipeline ends with. */
interface Night {
  readonly verdict: VerdictName;
  readonly state: ScenarioStateName;
}

const BASELINE = BASELINE_RUNS;
const AT = (second: number): string => new Date(Date.UTC(2027, 0, 1) + second * 1000).toISOString();

/**
 * Nightly `check` of the runs after the baseline, with what each left in the logs; `accept`: with --accept-passed.
 *
 * @param pinned runs from the beginning that are pinned as the anchor
 */
export function nightly(
  runs: readonly Values[],
  { accept = false, pinned = 0 }: { readonly accept?: boolean; readonly pinned?: number } = {},
): readonly Night[] {
  const all = runs.map(figuresOf);
  const byId = new Map(all.map((run) => [run.run_id, run]));
  const runsOf = (ids: readonly string[]): readonly RunFigures[] => ids.flatMap((id) => byId.get(id) ?? []);
  const changes: BaselineEntry[] = [];
  const change = (at: number, run_ids: readonly string[], level?: 'new'): void => {
    const entry = { schema_version: 1, scenario: 'simulated', at: AT(at), action: 'accept', run_ids } as const;
    changes.push({ ...entry, author: null, reason: null, ...(level === undefined ? {} : { level }) });
  };
  change(
    -1,
    all.slice(0, BASELINE).map(({ run_id }) => run_id),
  );
  const entries: VerdictEntry[] = [];
  return all.slice(BASELINE).map((run, i) => {
    const baseline = { ...foldBaseline(changes), entries: changes };
    const open = stateOf(entries, changes)?.open ?? null;
    const before = all.slice(0, BASELINE + i).map(({ run_id }) => run_id);
    const lastAccepted = before.findLastIndex((id) => baseline.accepted.includes(id));
    const over = before.indexOf(entries.findLast(({ recovered }) => recovered)?.run_ids[0] ?? '');
    const begun = open === null ? Infinity : before.indexOf(open.since_run_id);
    const ids = before.slice(Math.min(begun, Math.max(lastAccepted + 1, over)));
    const { judgment, entry, passed } = judgeNight({
      ...{
        accepted: runsOf(baseline.accepted).slice(-BASELINE),
        anchor: all.slice(0, pinned),
        entries,
        open,
        baseline,
      },
      pending: [...runsOf(ids), run],
      before: runsOf(open?.baseline_run_ids ?? []),
      ...{ rules: RULES, author: null },
    });
    entries.push({ ...entry, at: AT(2 * i) });
    const state = stateOf(entries, changes)?.state ?? 'unjudged';
    const accepted = accept ? passed() : [];
    if (accepted.length > 0) change(2 * i + 1, accepted, judgment.verdict === 'improved' ? 'new' : undefined);
    return { verdict: judgment.verdict, state };
  });
}

/** Twenty accepted runs and the nights after them, of which some are slower or faster by a factor. */
export function historyOf(
  world: World,
  random: Random,
  {
    scatter,
    nights,
    factor,
    bad = 0,
  }: {
    /** Run-to-run standard deviation as a ratio. */
    readonly scatter: number;
    readonly nights: number;
    readonly factor: (night: number) => number;
    /** Share of the runs that are 1.4 times as slow for reasons of their own. */
    readonly bad?: number;
  },
): readonly Values[] {
  const make = runMaker(world, random, scatter / Math.log1p(MARGIN));
  return Array.from({ length: BASELINE + nights }, (_, day) => {
    const values = make(day, Math.log(factor(day - BASELINE)) / Math.log1p(MARGIN));
    return random() < bad ? values.map((value) => 1.4 * value) : values;
  });
}

const HISTORIES = 100;
const QUIET = 20;
const LASTING = 25;
const AFTER = 20;

/** Six worlds in which nothing changes, and the most of 100 checks in which a regression may be found. */
const UNCHANGED = [
  { name: 'independent', world: INDEPENDENT, bad: 0, atMost: 0.25 },
  { name: 'heavy tails', world: HEAVY_TAILED, bad: 0, atMost: 1 },
  { name: '5 % of runs 1.4 times as slow', world: INDEPENDENT, bad: 0.05, atMost: 1 },
  { name: 'AR(1) ρ = 0.5', world: AUTOREGRESSION_5, bad: 0, atMost: 1 },
  { name: 'random walk', world: WALK, bad: 0, atMost: 1 },
  { name: 'weekly cycle', world: WEEKLY, bad: 0, atMost: 1 },
];

/** Rows of `npm run bench -- judge` on pipelines that check every night. */
export function nightlyRows(note: (line: string) => void): readonly Row[] {
  return [...unchangedRows(note), ...lastingRows(note), ...disturbedRows(), improvedRow(), ...driftRows(note)];
}

function unchangedRows(note: (line: string) => void): readonly Row[] {
  return UNCHANGED.map(({ name, world, bad, atMost }) => {
    const random = seededRandom(`nights ${name}`);
    let [found, red, checks] = [0, 0, 0];
    for (let i = 0; i < 2 * HISTORIES; i++) {
      const nights = nightly(historyOf(world, random, { scatter: 0.05, nights: QUIET, factor: () => 1, bad }));
      nights.forEach(({ state }, n) => {
        checks++;
        if (state !== 'regressed') return;
        red++;
        if (nights[n - 1]?.state !== 'regressed') found++;
      });
    }
    note(
      `${name}, ${QUIET} nights at 5 % scatter: found ${percent(found / checks)}, red nights ${percent(red / checks)}`,
    );
    return row(`regressions found in unchanged nights, ${name}`, '%', (100 * found) / checks, atMost);
  });
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
      const disturbed = runs.map((values, n) => (n === i % BASELINE ? values.map((value) => by * value) : values));
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
        pinned: BASELINE,
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
