import type { RunStore } from '../store/run-store.ts';
import { comparisonOf, type Comparison } from './comparison.ts';
import { loadExplanation } from './explanation/load-explanation.ts';
import type { Explanation } from './explanation/moved-signals.ts';
import { nextCommand, type NextContext } from './next-command.ts';
import type { RunFigures } from './run-figures.ts';
import type { OpenRegression, ScenarioStateName } from './scenario-state.ts';
import type { Judgment } from '../../core/api/verdict.ts';

/** A verdict with all that is said of it: what `compare --format json` and the HTTP API print (schemas/comparison.schema.json). */
export interface VerdictReport extends Comparison {
  /** Null when no gating measure changed. */
  readonly explanation: Explanation | null;
  /** The command that would gather what is missing; null when no command does. */
  readonly next_command: string | null;
  /** The judgment against the pinned runs; null when none are pinned, absent where no history was judged. */
  readonly anchor?: Judgment | null;
  /** Where the scenario stands with it, which decides the exit code; absent where no history was judged. */
  readonly state?: ScenarioStateName;
  readonly open_regression?: OpenRegression | null;
}

/** A stored run that is compared, with the tool that made it and the server that it measured. */
export interface ReportedRun {
  readonly run_id: string;
  readonly tool: string | null;
  readonly origin: string | null;
}

export interface ReportContext {
  readonly a: readonly ReportedRun[];
  readonly b: readonly ReportedRun[];
  /** The figures that were judged. */
  readonly figures: readonly RunFigures[];
  /** Stored runs of the configuration that could be accepted into the baseline; default none. */
  readonly acceptable?: number;
  /** See `NextContext`. */
  readonly continued?: NextContext['continued'];
  /** For the proposed command; null: not shown. */
  readonly runsDirectory: string | null;
}

export async function verdictReport(
  store: RunStore,
  judgment: Judgment,
  { a, b, figures, acceptable = 0, continued = null, runsDirectory }: ReportContext,
): Promise<VerdictReport> {
  const urls = { a: a.at(-1)?.origin ?? null, b: b.at(-1)?.origin ?? null };
  const newest = b.at(-1)?.run_id;
  const commandLine = figures.find(({ run_id }) => run_id === newest)?.command_line ?? null;
  return {
    ...comparisonOf(judgment, figures),
    explanation: await loadExplanation(store, judgment),
    next_command: nextCommand(judgment.needs, {
      ...{ scenario: judgment.scenario, verdict: judgment.verdict },
      ...{ acceptable, tool: b.at(-1)?.tool ?? null, urls, runsDirectory, commandLine, continued },
    }),
  };
}
