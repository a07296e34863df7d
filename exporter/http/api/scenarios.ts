import type { Request, RequestHandler } from 'express';
import type { RunSummary } from '../../../core/api/runs.ts';
import {
  BASELINE_ACTIONS,
  type ChangedBaseline,
  type ScenarioDetails,
  type ScenarioRun,
  type ScenariosResponse,
  type ScenarioSummary,
  type TitledVerdict,
  OVERDUE_INTERVALS,
} from '../../../core/api/scenarios.ts';
import type { FigureKey, VerdictEntry, VerdictSummary } from '../../../core/api/verdict.ts';
import { statisticTitle } from '../../../core/measures/names.ts';
import { baselineWindow } from '../../judge/baseline-sight.ts';
import { type ChangedRun, readBaseline, refusedChange } from '../../judge/baseline.ts';
import type { LoadFigures } from '../../judge/load-figures.ts';
import type { RunFigures } from '../../judge/run-figures.ts';
import {
  figureOf,
  gatingFigures,
  type HistoryRun,
  scenarioHistory,
  type ScenarioHistory,
} from '../../judge/scenario-history.ts';
import { recordChange, type ScenarioState } from '../../judge/scenario-state.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import { Problem } from '../problem.ts';
import { readBody, textUpTo, sendJson } from './json-body.ts';
import { integer, readQuery, requestedRules, shortTexts } from './query.ts';
import { withoutFolder } from './run.ts';
import { verdictSummary } from '../../judge/verdict-log.ts';
import { lastCompleted } from '../../publish/scenario-families.ts';
import { overviewOf } from '../../../core/api/overview.ts';

/** What the routes on scenarios read. */
interface ScenarioSource {
  readonly library: RunLibrary;
  readonly scenarioStates: () => Promise<readonly ScenarioState[]>;
  readonly expectedScenarios: ReadonlyMap<string, number>;
}

const PARAMETERS = { page: integer(1, 1_000_000, 1), limit: integer(1, 1000, 100) } as const;

/** `GET /scenarios`: where each scenario stands, paginated. */
export function scenariosRoute(source: ScenarioSource): RequestHandler {
  return async (request, response) => {
    const { page, limit } = readQuery(request, PARAMETERS);
    const all = await summariesOf(source);
    const from = (page - 1) * limit;
    await sendJson<ScenariosResponse>(request, response, {
      scenarios: all.slice(from, from + limit),
      page,
      limit,
      total: all.length,
    });
  };
}

/** Where each scenario stands, the one with the newest run first. */
async function summariesOf({
  library,
  scenarioStates,
  expectedScenarios,
}: ScenarioSource): Promise<readonly ScenarioSummary[]> {
  const { runs } = await library.overview();
  return scenarioSummaries(runs, await scenarioStates(), expectedScenarios, new Date());
}

const HISTORY_PARAMETERS = { gate: shortTexts(), margin: shortTexts(), limit: integer(1, 1000, 200) } as const;

/** `GET /scenarios/{name}`: its baseline, verdicts, runs and change points. */
export function scenarioRoute(source: ScenarioSource, load: LoadFigures): RequestHandler {
  return async (request, response) => {
    const { limit, ...rules } = readQuery(request, HISTORY_PARAMETERS);
    const choices = requestedRules(rules);
    const { library } = source;
    const summary = await requestedScenario(request, source);
    const runs = await completedRuns(library, summary.scenario);
    const history = await scenarioHistory(
      { load, runsDirectory: library.store.directory },
      summary.scenario,
      runs.map(({ run_id }) => run_id),
      choices,
    );
    await sendJson<ScenarioDetails>(request, response, { summary, ...responseOf(history, runs, library, limit) });
  };
}

/** The scenario in the path. Throws a `Problem` 404 when nothing is known of it. */
async function requestedScenario(request: Request, source: ScenarioSource): Promise<ScenarioSummary> {
  const name = String(request.params['name']);
  const found = (await summariesOf(source)).find(({ scenario }) => scenario === name);
  if (found === undefined) throw new Problem(404, `scenario ${JSON.stringify(name)} does not exist`);
  return found;
}

/** Oldest first. */
async function completedRuns(library: RunLibrary, name: string): Promise<readonly RunSummary[]> {
  const { runs } = await library.overview();
  return runs.filter(({ scenario, status }) => scenario === name && status === 'completed').reverse();
}

function responseOf(
  { rules, runs, changes, unreadable, baseline, verdicts }: ScenarioHistory,
  summaries: readonly RunSummary[],
  library: RunLibrary,
  limit: number,
): Omit<ScenarioDetails, 'summary'> {
  const byId = new Map(summaries.map((summary) => [summary.run_id, summary]));
  const figures = runs.map(({ run }) => run);
  const measures = gatingFigures(figures, rules);
  const { accepted, pinned, dropped, entries, damagedLines } = baseline;
  return {
    baseline: {
      ...{ accepted, used: usedRuns(figures, accepted), pinned, dropped },
      entries: entries.slice(-limit).reverse(),
      total_entries: entries.length,
      damaged_lines: damagedLines,
    },
    verdicts: verdicts.entries.slice(-limit).reverse().map(withTitles),
    total_verdicts: verdicts.entries.length,
    damaged_verdict_lines: verdicts.damagedLines,
    measures: measures.map((key) => ({ title: statisticTitle(key), ...key })),
    runs: runs
      .slice(-limit)
      .reverse()
      .flatMap((each) => {
        const summary = byId.get(each.run.run_id);
        return summary === undefined ? [] : [runResponse(each, summary, measures)];
      }),
    total_runs: summaries.length,
    unreadable_runs: [...unreadable].map(([run_id, reason]) => ({ run_id, reason: withoutFolder(library, reason) })),
    change_points: changes,
  };
}

/** Of the configuration of the newest run. */
function usedRuns(oldestFirst: readonly RunFigures[], accepted: readonly string[]): readonly string[] {
  const newestFirst = oldestFirst.toReversed();
  return baselineWindow(newestFirst, new Set(accepted), newestFirst[0]?.fingerprint ?? '');
}

function withTitles({ measures, ...entry }: VerdictEntry): TitledVerdict {
  return { ...entry, measures: measures.map((measure) => ({ title: statisticTitle(measure), ...measure })) };
}

function runResponse(
  { run, verdict, accepted, pinned }: HistoryRun,
  { end, model, system, system_version, tool, tool_version, tags }: RunSummary,
  measures: readonly FigureKey[],
): ScenarioRun {
  const { run_id, start, fingerprint } = run;
  return {
    ...{ run_id, start, end, fingerprint, model, system, system_version, tool, tool_version, tags },
    ...{ verdict, accepted, pinned },
    values: measures.map((key) => {
      const figure = figureOf(run, key);
      return figure === null ? null : { value: figure.value, ci95: figure.ci95, n: figure.n };
    }),
  };
}

const MAX_CHANGED_RUNS = 1000;

const MAX_REASON = 1000;

const MAX_AUTHOR = 200;

const MEMBERS = {
  action: {
    allowed: BASELINE_ACTIONS,
    parse: (value: unknown) => BASELINE_ACTIONS.find((one) => one === value) ?? null,
  },
  run_ids: { allowed: [`1 to ${MAX_CHANGED_RUNS} run ids`], parse: runIds },
  reason: textUpTo(MAX_REASON),
  author: textUpTo(MAX_AUTHOR),
};

/** `POST /scenarios/{name}/baseline`: what `llmbench baseline` appends, with its author and reason. */
export function changeBaselineRoute(library: RunLibrary): RequestHandler {
  return async (request, response) => {
    readQuery(request, {});
    const { action, run_ids, reason, author } = readBody(request, MEMBERS);
    const scenario = String(request.params['name']);
    const { directory } = library.store;
    const before = await readBaseline(directory, scenario);
    const runs = await changedRuns(library, scenario, run_ids, [...before.accepted, ...before.pinned]);
    const refused = refusedChange(scenario, action, runs);
    if (refused !== null) throw new Problem(400, refused);
    await recordChange(library.store, { scenario, action, run_ids, author, reason });
    const { accepted, pinned, dropped } = await readBaseline(directory, scenario);
    await sendJson<ChangedBaseline>(request, response, { scenario, accepted, pinned, dropped });
  };
}

function runIds(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_CHANGED_RUNS) return null;
  const ids: readonly unknown[] = value;
  return ids.every((id): id is string => typeof id === 'string' && /^[0-9A-Za-z-]{1,64}$/.test(id))
    ? [...new Set(ids)]
    : null;
}

/** The runs of a change. Those of the baseline may be deleted by now. Throws a `Problem` 404. */
async function changedRuns(
  library: RunLibrary,
  scenario: string,
  ids: readonly string[],
  inBaseline: readonly string[],
): Promise<readonly ChangedRun[]> {
  const { runs } = await library.overview();
  const byId = new Map(runs.map((run) => [run.run_id, run]));
  return ids.map((run_id) => {
    const run = byId.get(run_id);
    if (run !== undefined) return run;
    if (inBaseline.includes(run_id)) return { run_id, scenario, status: null };
    throw new Problem(404, `run ${run_id} does not exist`);
  });
}

/**
 * Every scenario with a run, a baseline, a verdict or an expected interval, the one with the newest run first.
 *
 * @param runs newest first
 * @param expectedSeconds how often a scenario is expected to complete, by its name
 */
function scenarioSummaries(
  runs: readonly RunSummary[],
  states: readonly ScenarioState[],
  expectedSeconds: ReadonlyMap<string, number>,
  now: Date,
): readonly ScenarioSummary[] {
  const byScenario = Map.groupBy(runs, ({ scenario }) => scenario);
  const stateOf = new Map(states.map((state) => [state.scenario, state]));
  const completed = lastCompleted(runs);
  const names = new Set([...byScenario.keys(), ...stateOf.keys(), ...expectedSeconds.keys()]);
  return [...names].map((scenario) => {
    const own = byScenario.get(scenario) ?? [];
    const state = stateOf.get(scenario);
    const last = completed.get(scenario) ?? null;
    const interval = expectedSeconds.get(scenario) ?? null;
    const ago = last === null ? Infinity : now.getTime() / 1000 - last;
    return {
      scenario,
      runs: own.length,
      fingerprints: fingerprintsOf(own),
      last_completed: last === null ? null : new Date(last * 1000).toISOString(),
      verdict: summaryOf(state?.newest),
      state: state?.state ?? 'unjudged',
      open_regression: state?.open ?? null,
      undecided_checks: state?.undecidedInARow ?? 0,
      baseline: { accepted: state?.baseline.accepted.length ?? 0, pinned: state?.baseline.pinned.length ?? 0 },
      expected_interval_seconds: interval,
      overdue: interval === null ? null : ago > OVERDUE_INTERVALS * interval,
    };
  });
}

function fingerprintsOf(runs: readonly RunSummary[]): ScenarioSummary['fingerprints'] {
  return [...Map.groupBy(runs, ({ fingerprint }) => fingerprint)].map(([fingerprint, alike]) => ({
    fingerprint,
    runs: alike.length,
  }));
}

function summaryOf(entry: ScenarioState['newest'] | undefined): VerdictSummary | null {
  return entry === null || entry === undefined ? null : verdictSummary(entry);
}

const OVERVIEW_PARAMETERS = { limit: integer(1, 100, 20) } as const;

/** `GET /overview`: what a home page shows, in one response. */
export function overviewRoute(source: ScenarioSource): RequestHandler {
  return async (request, response) => {
    const { limit } = readQuery(request, OVERVIEW_PARAMETERS);
    const [{ runs }, scenarios] = await Promise.all([source.library.overview(), summariesOf(source)]);
    await sendJson<ReturnType<typeof overviewOf<ScenarioSummary>>>(
      request,
      response,
      overviewOf(runs, scenarios, limit),
    );
  };
}
