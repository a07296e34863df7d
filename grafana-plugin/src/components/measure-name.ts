import { capitalized, measureTitle, statisticTitle, type TitledStatistic } from '../../../core/measures/names.ts';
import type { DistributionResult, MeasureResult, ResultFile, ScalarResult } from '../../../core/run/result.ts';
import type { Clock } from '../../../core/run/statistic.ts';

/** The name of a measure as a heading. */
export const measureName = (measure: string, clock: Clock = 'sent') => capitalized(measureTitle({ measure, clock }));

/** `Time to first token p90`; measures of one name differ by what they count. */
export const statisticName = (statistic: TitledStatistic) => capitalized(statisticTitle(statistic));

type KeyedStatistic = Required<Omit<TitledStatistic, 'breakdown'>> & Pick<TitledStatistic, 'breakdown'>;

export function statisticKey(statistic: KeyedStatistic & { definition: string }): string {
  const { measure, stat, clock, population, origin, definition, breakdown } = statistic;
  return [measure, stat, clock, population, origin, definition, breakdown].join(' ');
}

/** A result, or one of its stages. */
type Measured = Pick<ResultFile, 'measures'>;

/** A client's distribution over ok requests, counted from sent. */
export function distributionOf(result: Measured, measure: string): DistributionResult | null {
  const found = result.measures.find(
    (one): one is DistributionResult => one.kind === 'distribution' && isPlain(one) && one.measure === measure
  );
  return found ?? null;
}

export function scalarOf(
  result: Measured,
  measure: string,
  origin: ScalarResult['origin'] = 'client'
): ScalarResult | null {
  return (
    result.measures.find(
      (one): one is ScalarResult => one.kind === 'scalar' && one.origin === origin && one.measure === measure
    ) ?? null
  );
}

function isPlain({ origin, population, clock, measure }: MeasureResult): boolean {
  return origin === 'client' && population === 'ok' && (clock === 'sent' || measure === 'schedule_delay');
}
