import type { Finding } from './lint.ts';

/** Findings that are wanted, each with the reason; one that nothing needs any more is an error. */
export interface LintException {
  readonly rules: readonly string[];
  /** The metrics that it is about. */
  readonly metric: RegExp;
  readonly reason: string;
}

export const LINT_EXCEPTIONS: readonly LintException[] = [
  {
    rules: ['target-job-rule', 'target-instance-rule'],
    metric: /^llmbench_/,
    reason:
      'a run is chosen by its run_id, which no two runs share; job and instance are those of the servers, and the ' +
      'address of a run is another one each time',
  },
  {
    rules: ['target-counter-agg-rule'],
    metric: /^llmbench_.+_total$/,
    reason: "a run's counters start at 0 and end with the run, so that their last value is the exact total of the run",
  },
];

export function isExcepted({ rule, metric }: Finding, exception: LintException): boolean {
  return metric !== null && exception.rules.includes(rule) && exception.metric.test(metric);
}
