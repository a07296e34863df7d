import type { SloResult } from '../../../core/run/objectives.ts';
import { sloText } from '../../../core/objectives/grammar.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { TO_FILE, verdictLines, type Print } from './facts.ts';

const VERDICTS = { met: 'met', not_met: 'NOT MET', undecided: 'undecided' } as const;

/** One fact per objective. */
export function sloLines(slos: readonly SloResult[], print: Print = TO_FILE): string[] {
  return slos.flatMap((slo) =>
    verdictLines('SLO', VERDICTS[slo.verdict], `: ${sloText(slo)} (${evidence(slo)})`, print),
  );
}

function evidence({ value, interval, why, unit }: SloResult): string {
  const range = interval && `95 % interval ${quantity(interval[0], unit)} to ${quantity(interval[1], unit)}`;
  return [quantity(value, unit), range, why].filter((part) => part !== null).join('; ');
}
