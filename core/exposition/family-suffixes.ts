import type { MetricType } from './exposition.ts';

/** Suffixes that a family's name takes in the names of its samples (OpenMetrics 1.0; '' = the name itself). */
export const FAMILY_SUFFIXES: Readonly<Record<MetricType, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_bucket', '_count', '_sum', '_created'],
  gaugehistogram: ['_bucket', '_gcount', '_gsum'],
  summary: ['', '_count', '_sum', '_created'],
  info: ['_info'],
  stateset: [''],
  unknown: [''],
};

const ALL_SUFFIXES = [...new Set(Object.values(FAMILY_SUFFIXES).flat())].filter((suffix) => suffix !== '');

/** The family that a sample belongs to: of its own name when that has a TYPE, else of a typed name that it extends. */
export function familyOfSample(name: string, types: ReadonlyMap<string, MetricType>): string {
  if (types.has(name)) return name;
  for (const suffix of ALL_SUFFIXES) {
    if (!name.endsWith(suffix)) continue;
    const base = name.slice(0, -suffix.length);
    const type = types.get(base);
    if (type !== undefined && FAMILY_SUFFIXES[type].includes(suffix)) return base;
  }
  return name;
}
