import type { SloResult } from '../../../core/run/gates.ts';
import { sloText } from '../../judge/slo-grammar.ts';
import { quantity } from '../../../core/text/quantities.ts';

const VERDICTS = { met: 'met', not_met: 'NOT MET', undecided: 'undecided' } as const;

/** One line per objective, for a terminal. */
export function sloLines(slos: readonly SloResult[]): string {
  return slos.map((slo) => `slo         ${sloText(slo)}: ${VERDICTS[slo.verdict]} (${evidence(slo)})\n`).join('');
}

function evidence({ value, interval, why, unit }: SloResult): string {
  const range = interval && `95 % interval ${quantity(interval[0], unit)} to ${quantity(interval[1], unit)}`;
  return [quantity(value, unit), range, why].filter((part) => part !== null).join('; ');
}
