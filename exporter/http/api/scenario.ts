import type { ScenarioDetails, ScenarioRun, TitledVerdict, ScenarioSummary } from '../../../core/api/scenarios.ts';
import type { VerdictEntry, FigureKey } from '../../../core/api/verdict.ts';
import type { Request, RequestHandler } from 'express';
import { statisticTitle } from '../../../core/measures/names.ts';
import { baselineWindow } from '../../judge/baseline-window.ts';
import type { LoadFigures } from '../../judge/load-figures.ts';
import {
  figureOf,
  gatingFigures,
  scenarioHistory,
  type HistoryRun,
  type ScenarioHistory,
} from '../../judge/scenario-history.ts';
import type { RunFigures } from '../../judge/run-figures.ts';
import type { RunLibrary } from '../../publish/views/run-library.ts';
import type { RunSummary } from '../../../core/api/runs.ts';
import { Problem } from '../problem.ts';
import { integer, readQuery, shortTexts } from './query.ts';
import { requestedRules } from './requested-rules.ts';
import { withoutFolder } from './requested-run.ts';
import { summariesOf, type ScenarioSource } from './scenarios.ts';
import { sendJson } from './send-json.ts';

const PARAMETERS = { gate: shortTexts(), margin: shortTexts(), limit: integer(1, 1000, 200) } as const;

/** `GET /scenarios/{name}`: its baseline, verdicts, runs and change points. */
export function scenarioRoute(source: ScenarioSource, load: LoadFigures): RequestHandler {
  return async (request, response) => {
    const { limit, ...rules } = readQuery(request, PARAMETERS);
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
export async function requestedScenario(request: Request, source: ScenarioSource): Promise<ScenarioSummary> {
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
