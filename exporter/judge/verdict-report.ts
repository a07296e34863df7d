import type { VerdictReport } from '../../core/api/comparison.ts';
import type { RunStore } from '../store/run-store.ts';
import { comparisonOf } from './comparison.ts';
import { loadExplanation } from './explanation/load-explanation.ts';
import { nextCommand, type NextContext } from './next-command.ts';
import type { RunFigures } from './run-figures.ts';
import type { Judgment } from '../../core/api/verdict.ts';

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
