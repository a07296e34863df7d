import { isOrdered, oldestFirst } from '../run/run-id.ts';
import { foldedRuns, runGroup, sortValue } from './run-list.ts';
import type { RunGroup, RunSummary } from './runs.ts';
import type { ListedScenario } from './scenarios.ts';

/** A completed run with the figures of the comparable runs before it. */
export interface LatestRun {
  readonly run: RunSummary;
  /** The group of which it is the newest run; null when it is alone. */
  readonly group: RunGroup | null;
  /** Of the runs that are comparable with it, up to it, oldest first; null: one has no value. */
  readonly history: Readonly<Record<HistoryKey, readonly (number | null)[]>>;
}

/** Figures with a history: keys of the order of a list of runs. */
const HISTORY_KEYS = ['time_to_first_token_p99', 'output_token_throughput'] as const;

export type HistoryKey = (typeof HISTORY_KEYS)[number];

/** `GET /overview`. */
export interface OverviewResponse {
  readonly runs: { readonly finished: number; readonly running: number };
  readonly scenarios: number;
  /** Scenarios that somebody should look at, the most urgent first. */
  readonly attention: readonly ListedScenario[];
  /** Of all scenarios, also of those beyond the limit of `attention`. */
  readonly attention_total: number;
  /** The newest first. */
  readonly running: readonly RunSummary[];
  /** The newest completed run of each scenario, the newest first. */
  readonly latest: readonly LatestRun[];
}

/** Query parameters of `GET /overview`. */
export interface OverviewQuery {
  /** Of each of the lists. */
  readonly limit?: number;
}

/** What the first page of a user interface shows. `runs` has the newest first. */
export function overviewOf<Scenario extends Pick<ListedScenario, UrgencyMember>>(
  runs: readonly RunSummary[],
  scenarios: readonly Scenario[],
  limit: number,
): Omit<OverviewResponse, 'attention'> & { readonly attention: readonly Scenario[] } {
  const running = runs.filter(({ status }) => status === 'running');
  const attention = scenarios
    .filter((scenario) => urgencyOf(scenario) !== null)
    .sort((a, b) => (urgencyOf(a) ?? 0) - (urgencyOf(b) ?? 0));
  return {
    runs: { finished: runs.length - running.length, running: running.length },
    scenarios: scenarios.length,
    attention: attention.slice(0, limit),
    attention_total: attention.length,
    running: running.slice(0, limit),
    latest: latestRuns(runs).slice(0, limit),
  };
}

type UrgencyMember = 'open_regression' | 'state' | 'overdue' | 'verdict';

/** The smaller, the more urgent; null: nothing is wrong. */
function urgencyOf({ open_regression, state, overdue, verdict }: Pick<ListedScenario, UrgencyMember>): number | null {
  const found = [
    open_regression !== null && open_regression.acknowledged === null,
    state === 'suspect',
    overdue === true,
    verdict?.verdict === 'undecided',
    open_regression !== null,
  ].indexOf(true);
  return found < 0 ? null : found;
}

function latestRuns(runs: readonly RunSummary[]): readonly LatestRun[] {
  const completed = runs.filter(({ status }) => status === 'completed');
  const history = runHistories(completed);
  return [...Map.groupBy(completed, ({ scenario }) => scenario).values()].flatMap((own) => {
    const [newest] = foldedRuns(own);
    if (newest === undefined) return [];
    const figures = HISTORY_KEYS.map((key) => [key, history(newest[0], key)] as const);
    return [{ run: newest[0], group: runGroup(newest), history: Object.fromEntries(figures) as LatestRun['history'] }];
  });
}

/** A number of a run and of the comparable runs before it, oldest first. */
export type Histories = (run: RunSummary, name: string) => readonly (number | null)[];

const HISTORY_LENGTH = 12;

/** Histories of these runs. Only completed runs of the same scenario, fingerprint and system are comparable. */
export function runHistories(runs: readonly RunSummary[]): Histories {
  const comparable = Map.groupBy(
    runs.filter((run) => isOrdered(run) && run.status === 'completed'),
    groupOf,
  );
  for (const group of comparable.values()) group.sort(oldestFirst);
  return (run, name) => {
    const group = comparable.get(groupOf(run)) ?? [];
    const at = group.findIndex(({ run_id }) => run_id === run.run_id);
    if (at < 0) return [];
    return group.slice(Math.max(0, at + 1 - HISTORY_LENGTH), at + 1).map((one) => {
      const value = sortValue(one, name);
      return typeof value === 'number' ? value : null;
    });
  };
}

function groupOf({ scenario, fingerprint, system }: RunSummary): string {
  return JSON.stringify([scenario, fingerprint, system]);
}
