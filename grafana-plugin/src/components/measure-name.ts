import { capitalized, measureTitle, statisticTitle, type TitledStatistic } from '../../../core/measures/names.ts';
import type { Clock } from '../../../core/run/statistic.ts';

/** The name of a measure as a heading. */
export const measureName = (measure: string, clock: Clock = 'sent') => capitalized(measureTitle({ measure, clock }));

/** `Time to first token p90`; measures of one name differ by what they count. */
export const statisticName = (statistic: TitledStatistic) => capitalized(statisticTitle(statistic));

export function statisticKey(statistic: Required<TitledStatistic> & { definition: string }): string {
  const { measure, stat, clock, population, origin, definition } = statistic;
  return [measure, stat, clock, population, origin, definition].join(' ');
}
