import { labelsOf } from '../../catalog/load.ts';
import type { Catalog, CatalogFamily } from '../../catalog/types.ts';
import { compareVersions, isVersion } from '../../catalog/versions.ts';

/** Input of a unit test of promtool. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** A server whose page is written from its catalog. */
export interface CatalogPage {
  readonly catalog: Catalog;
  /** The families that this release has. */
  readonly release: string;
  /** Whether its switches are set. */
  readonly switchedOn: boolean;
  readonly instance: string;
  readonly samples: number;
}

/** The samples of a loaded server: counters grow by 5 per scrape, gauges stay at 0.5. */
export function seriesOfPage({ catalog, release, switchedOn, instance, samples }: CatalogPage): readonly InputSeries[] {
  const families = catalog.families.filter((family) => isExposed(family, { release, switchedOn }));
  return families.flatMap((family) =>
    labelSets(catalog, family).flatMap((labels) =>
      samplesOf(family).map(({ name, extra, grows }) => ({
        series: `${name}{${[`job="servers",instance="${instance}"`, ...labels, ...extra].join(',')}}`,
        values: grows ? `0+5x${samples}` : `0.5x${samples}`,
      })),
    ),
  );
}

/** Whether the page of a release has a family that is used. */
function isExposed(
  { exposed, since, until }: CatalogFamily,
  { release, switchedOn }: Pick<CatalogPage, 'release' | 'switchedOn'>,
): boolean {
  if (exposed === 'never' || (exposed === 'switch' && !switchedOn)) return false;
  // Facts without a release are about others than those that the catalog was compared with.
  if (exposed === 'other_release' && !isVersion(until)) return false;
  const begun = !isVersion(since) || compareVersions(since, release) <= 0;
  return begun && (!isVersion(until) || compareVersions(release, until) < 0);
}

/** One series for each known value of each label, the other labels at their first value. */
function labelSets(catalog: Catalog, family: CatalogFamily): readonly (readonly string[])[] {
  const labels = labelsOf(catalog, family);
  const valuesOf = (label: string): readonly string[] => family.label_values?.[label] ?? ['x'];
  const sets = labels.flatMap((varied) =>
    valuesOf(varied).map((value) =>
      labels.map((label) => `${label}="${label === varied ? value : (valuesOf(label)[0] ?? '')}"`),
    ),
  );
  return [...new Map((labels.length === 0 ? [[]] : sets).map((set) => [set.join(), set])).values()];
}

interface SampleName {
  readonly name: string;
  readonly extra: readonly string[];
  readonly grows: boolean;
}

function samplesOf({ name, type, buckets, quantiles }: CatalogFamily): readonly SampleName[] {
  const sums = [
    { name: `${name}_sum`, extra: [], grows: true },
    { name: `${name}_count`, extra: [], grows: true },
  ];
  if (type === 'histogram') {
    const bounds = Array.isArray(buckets) ? (buckets as number[]) : [1, 10, 100];
    const les = [...bounds.map(String), '+Inf'];
    return [...sums, ...les.map((le) => ({ name: `${name}_bucket`, extra: [`le="${le}"`], grows: true }))];
  }
  if (type === 'summary') {
    const values = (quantiles ?? [0.5, 0.9, 0.99]).map(String);
    return [...sums, ...values.map((value) => ({ name, extra: [`quantile="${value}"`], grows: false }))];
  }
  return [{ name, extra: [], grows: type === 'counter' }];
}
