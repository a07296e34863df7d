import type { VerdictReport } from '../../core/api/comparison.ts';
import { gates } from '../judge/scenario-state.ts';
import type { VerdictName } from '../../core/api/verdict.ts';
import { ExitCode } from './failure.ts';
import type { VERDICT_OPTIONS } from './options/judge-options.ts';
import type { OptionValues } from './options/options.ts';
import { printing } from './printing.ts';
import { verdictOutput } from './tables/verdict-output.ts';
import { acknowledgedText } from './tables/verdict-text.ts';

export type VerdictValues = OptionValues<typeof VERDICT_OPTIONS> & { readonly json: boolean };

/** Prints a verdict as requested, warns when it passes without a decision, and returns the exit code. */
export function printVerdict(report: VerdictReport, { json, format, undecided }: VerdictValues): number {
  const failUndecided = undecided === 'fail';
  process.stdout.write(verdictOutput(json ? 'json' : format, report, failUndecided, printing()));
  const { verdict, scenario, open_regression: open } = report;
  // Also where the verdict itself goes to a file: the log of a job has to say why it failed.
  if (open) process.stderr.write(`${scenario}: ${open.sentence}${acknowledgedText(open)}\n`);
  const regressed = open ? gates(open) : verdict === 'regressed';
  if (regressed || (failUndecided && isUndecided(verdict))) return ExitCode.gate;
  if (isUndecided(verdict)) {
    process.stderr.write(`warning: the verdict is ${verdict}, which passes; use --undecided fail to fail on it\n`);
  }
  return ExitCode.done;
}

const isUndecided = (verdict: VerdictName): boolean => verdict === 'undecided' || verdict === 'suspect';
