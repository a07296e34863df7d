import type { FamilyInput } from '../../../core/exposition/index.ts';
import { labelPairs, type SeriesLayout } from './pushed-series.ts';

/** The series of these families in their order; `extraLabels` are added to each. */
export function layoutOf(
  families: readonly FamilyInput[],
  extraLabels: Readonly<Record<string, string>>,
  created_ms: number | null,
): SeriesLayout {
  return {
    families: families.map(({ name, help, type }) => ({ name, help, type })),
    series: families.flatMap(({ name, samples }, family) =>
      samples.map(({ metricName, labels, sharedLabels }) => ({
        family,
        labels: labelPairs(metricName ?? name, { ...extraLabels, ...sharedLabels, ...labels }),
      })),
    ),
    nativeSeries: [],
    created_ms,
  };
}

/** The values of the same series. */
export function valuesOf(families: readonly FamilyInput[]): readonly number[] {
  return families.flatMap(({ samples }) => samples.map(({ value }) => value));
}
