import { percentText } from '../text/change-text.ts';
import { significant } from '../text/quantities.ts';
import type { LoadWithinObjective } from './sweep-shape.ts';

/** The range of the largest load within the objective: `met up to 64, not met from 128, 95 % confidence`. */
export function withinText({ holds, fails, monotonic, confidence }: LoadWithinObjective): string {
  return [
    holds === null ? nowhereText(fails) : `met up to ${significant(holds)}`,
    ...(fails === null ? [] : [`not met from ${significant(fails)}`]),
    ...(monotonic ? [] : ['met again above: not monotonic']),
    ...(confidence === undefined ? [] : [`${percentText(confidence)} confidence`]),
  ].join(', ');
}

const nowhereText = (fails: number | null): string => (fails === null ? 'undecided at every load' : 'met at no load');
