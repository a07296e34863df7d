import { quantitiesOf } from '../../catalog/equivalents.ts';
import { systemsOfNames } from '../../catalog/detect.ts';
import { catalogs } from '../../catalog/load.ts';
import type { Catalog } from '../../catalog/types.ts';

/** What the Grafana app must know of the catalogs: the histogram families, and the options that set their bounds. */
export function histogramFamilies(): object {
  const all = catalogs().filter(({ format, families }) => format !== 'json' && families.some(isHistogram));
  const order = systemsOfNames(all.flatMap(({ detect, detect_with = [] }) => [...detect, ...detect_with]));
  return {
    systems: all
      .toSorted((a, b) => rank(order, a) - rank(order, b))
      .map((catalog) => ({
        system: catalog.system,
        title: catalog.title,
        detect: catalog.detect,
        detect_with: catalog.detect_with ?? null,
        detect_without: catalog.detect_without ?? null,
        presence: presenceOf(catalog),
        bucket_options: catalog.bucket_options ?? null,
        bucket_options_unknown: catalog.bucket_options_unknown ?? [],
        families: catalog.families.filter(isHistogram).map(({ name, unit, per, help }) => ({
          name,
          unit,
          per: per ?? null,
          help,
          quantity: quantitiesOf(catalog.system, name)[0]?.quantity ?? null,
        })),
      })),
  };
}

const isHistogram = ({ type }: Catalog['families'][number]): boolean => type === 'histogram';

/** Gateways before engines; those that the detection leaves out of a page with all names come last. */
function rank(order: readonly string[], { system }: Catalog): number {
  const position = order.indexOf(system);
  return position < 0 ? order.length : position;
}

/** Beginnings of names of histograms by which servers are found: whole names where the system has no prefix. */
function presenceOf({ detect, families }: Catalog): readonly string[] {
  const names = families.filter(isHistogram).map(({ name }) => name);
  const prefixes = detect.filter((prefix) => names.some((name) => name.startsWith(prefix)));
  return prefixes.length > 0 ? prefixes : names;
}
