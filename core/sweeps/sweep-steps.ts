import type { Objective, ObjectiveResult, ObjectiveVerdict } from '../run/objectives.ts';
import { OUTCOMES } from '../run/record.ts';
import type { RequestCounts } from '../run/request-counts.ts';
import { oldestFirst } from '../run/run-order.ts';
import { SWEEP_FIGURES, type RunFigure } from './sweep-figures.ts';
import type { SweepRun } from './sweep-run.ts';
import type { StepObjective, StepValue, SweepStep } from './sweep-shape.ts';

/** The steps by ascending load. `runs` differ in nothing but their load. */
export function sweepSteps(runs: readonly SweepRun[]): readonly SweepStep[] {
  return [...Map.groupBy(runs, ({ load }) => load.value)]
    .sort(([a], [b]) => a - b)
    .map(([load, ofStep]) => stepOf(load, ofStep));
}

function stepOf(load: number, runs: readonly SweepRun[]): SweepStep {
  const ordered = runs.toSorted(oldestFirst);
  const completed = ordered.filter(({ status }) => status === 'completed');
  const slos = objectiveCounts(completed.flatMap((run) => run.slos));
  return {
    load,
    runs: ordered.map(({ run_id, start, end, status }) => ({ run_id, start, end, status })),
    requests: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, sum(completed, outcome)])) as RequestCounts,
    values: Object.fromEntries(
      SWEEP_FIGURES.map((figure) => [figure, valueOf(completed.map(({ figures }) => figures[figure]))]),
    ) as SweepStep['values'],
    slos,
    objective: objectiveOf(slos),
  };
}

function sum(runs: readonly SweepRun[], outcome: (typeof OUTCOMES)[number]): number | null {
  const counts = runs.map(({ requests }) => requests[outcome]);
  return counts.length === 0
    ? null
    : counts.reduce((all, each) => (all === null || each === null ? null : all + each), 0);
}

function valueOf(figures: readonly (RunFigure | null)[]): StepValue | null {
  const known = figures.filter((figure) => figure !== null);
  if (known.length === 0) return null;
  return {
    mean: known.reduce((all, { value }) => all + value, 0) / known.length,
    min: Math.min(...known.map(({ low }) => low)),
    max: Math.max(...known.map(({ high }) => high)),
    n: known.length,
  };
}

function objectiveCounts(results: readonly ObjectiveResult[]): StepObjective[] {
  const nameOf = ({ measure, stat, comparison, limit }: Objective): string =>
    JSON.stringify([measure, stat, comparison, limit]);
  return [...Map.groupBy(results, nameOf).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { measure, stat, comparison, limit, unit } = first;
    const count = (verdict: ObjectiveVerdict): number => same.filter((each) => each.verdict === verdict).length;
    return [
      {
        ...{ measure, stat, comparison, limit, unit },
        ...{ met: count('met'), not_met: count('not_met'), undecided: count('undecided') },
      },
    ];
  });
}

function objectiveOf(slos: readonly StepObjective[]): ObjectiveVerdict | null {
  if (slos.length === 0) return null;
  if (slos.some(({ not_met }) => not_met > 0)) return 'not_met';
  return slos.some(({ undecided }) => undecided > 0) ? 'undecided' : 'met';
}
