import type { DistributionResult, MeasureResult, ResultFile, ScalarResult } from '../../../core/run/result.ts';

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
