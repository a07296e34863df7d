import type { Random } from '../../core/stats/seeded-random.ts';
import { BASELINE_RUNS } from '../../exporter/judge/baseline-reference.ts';
import { foldBaseline } from '../../exporter/judge/baseline.ts';
import type { BaselineEntry, ScenarioStateName } from '../../core/api/scenarios.ts';
import type { VerdictEntry, VerdictName } from '../../core/api/verdict.ts';
import { judgeNight } from '../../exporter/judge/check-scenario.ts';
import type { RunFigures } from '../../exporter/judge/run-figures.ts';
import { stateOf } from '../../exporter/judge/scenario-state.ts';
import { figuresOf, MARGIN, RULES, runMaker, type Values } from './series.ts';
import type { World } from './worlds.ts';

/** What a night of a simulated pipeline ends with. */
interface Night {
  readonly verdict: VerdictName;
  readonly state: ScenarioStateName;
}

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
    all.slice(0, BASELINE_RUNS).map(({ run_id }) => run_id),
  );
  const entries: VerdictEntry[] = [];
  return all.slice(BASELINE_RUNS).map((run, i) => {
    const baseline = { ...foldBaseline(changes), entries: changes };
    const open = stateOf(entries, changes)?.open ?? null;
    const before = all.slice(0, BASELINE_RUNS + i).map(({ run_id }) => run_id);
    const lastAccepted = before.findLastIndex((id) => baseline.accepted.includes(id));
    const over = before.indexOf(entries.findLast(({ recovered }) => recovered)?.run_ids[0] ?? '');
    const begun = open === null ? Infinity : before.indexOf(open.since_run_id);
    const ids = before.slice(Math.min(begun, Math.max(lastAccepted + 1, over)));
    const { judgment, entry, passed } = judgeNight({
      ...{
        accepted: runsOf(baseline.accepted).slice(-BASELINE_RUNS),
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
  return Array.from({ length: BASELINE_RUNS + nights }, (_, day) => {
    const values = make(day, Math.log(factor(day - BASELINE_RUNS)) / Math.log1p(MARGIN));
    return random() < bad ? values.map((value) => 1.4 * value) : values;
  });
}
