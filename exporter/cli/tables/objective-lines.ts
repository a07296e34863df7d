import type { ObjectiveResult } from '../../../core/run/objectives.ts';
import { objectiveText } from '../../../core/objectives/grammar.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { TO_FILE, verdictLines, type Print } from './facts.ts';

/** In a terminal and in logs, where what matters must be seen. */
export const OBJECTIVE_VERDICTS = { met: 'met', not_met: 'NOT MET', undecided: 'undecided' } as const;

/** One fact per objective. */
export function objectiveLines(slos: readonly ObjectiveResult[], print: Print = TO_FILE): string[] {
  return slos.flatMap((slo) =>
    verdictLines('SLO', OBJECTIVE_VERDICTS[slo.verdict], `: ${objectiveText(slo)} (${evidence(slo)})`, print),
  );
}

function evidence({ value, interval, why, unit }: ObjectiveResult): string {
  const range = interval && `95 % interval ${quantity(interval[0], unit)} to ${quantity(interval[1], unit)}`;
  return [quantity(value, unit), range, why].filter((part) => part !== null).join('; ');
}
