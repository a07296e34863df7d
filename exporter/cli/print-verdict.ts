import type { VerdictReport } from '../judge/verdict-report.ts';
import { gates } from '../judge/scenario-state.ts';
import type { VerdictName } from '../judge/verdict.ts';
import { ExitCode } from './failure.ts';
import type { VERDICT_OPTIONS } from './options/judge-options.ts';
import type { OptionValues } from './options/options.ts';
import { printing } from './printing.ts';
import { verdictOutput } from './tables/verdict-output.ts';

export type VerdictValues = OptionValues<typeof VERDICT_OPTIONS> & { readonly json: boolean };

/** Prints a verdict as requested, warns when it passes without a decision, and returns the exit code. */
export function printVerdict(report: VerdictReport, { json, format, undecided }: VerdictValues): number {
  const failUndecided = undecided === 'fail';
  process.stdout.write(verdictOutput(json ? 'json' : format, report, failUndecided, printing()));
  const { verdict, open_regression: open } = report;
  if (open) process.stderr.write(`${open.sentence}${open.acknowledged === null ? '' : ' (acknowledged)'}\n`);
  // Of a history the state decides: a regression gates until it ends. Other comparisons have no state.
  const fails = open === undefined ? verdict === 'regressed' : gates(open);
  if (isOpen(verdict) && !failUndecided) {
    process.stderr.write(`warning: the verdict is ${verdict}, which passes; use --undecided fail to fail on it\n`);
  }
  return fails || (failUndecided && isOpen(verdict)) ? ExitCode.gate : ExitCode.done;
}

const isOpen = (verdict: VerdictName): boolean => verdict === 'undecided' || verdict === 'suspect';
