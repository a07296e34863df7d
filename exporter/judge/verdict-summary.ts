import type { VerdictEntry } from './verdict-log.ts';

/** A verdict in short: without the evidence per measure. */
export type VerdictSummary = Pick<
  VerdictEntry,
  'verdict' | 'reason' | 'sentence' | 'at' | 'run_ids' | 'baseline_run_ids' | 'left_out'
>;

export function verdictSummary(entry: VerdictEntry): VerdictSummary {
  const { verdict, reason, sentence, at, run_ids, baseline_run_ids, left_out } = entry;
  return { verdict, reason, sentence, at, run_ids, baseline_run_ids, left_out };
}
