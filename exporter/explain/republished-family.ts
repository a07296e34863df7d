import { catalogs } from '../../catalog/load.ts';
import type { FamilyMatch } from '../../catalog/types.ts';
import { serverFamily } from '../publish/server-family.ts';

/** The servers' families that are published for a run as `llmbench_server_…`, by that name or one of its samples. */
export function republishedFamilies(name: string): readonly FamilyMatch[] {
  const base = name.replace(/_(quantile|bucket|sum|count)$/, '');
  return catalogs().flatMap((catalog) =>
    catalog.families.flatMap((family) => {
      const type = family.type === 'counter' || family.type === 'histogram' ? family.type : 'gauge';
      const published = serverFamily(family.name, type, family.unit).name;
      return published === name || published === base ? [{ catalog, family }] : [];
    }),
  );
}

/** The prefix of the server's family in the explanation. */
export const REPUBLISHED =
  "what llmbench computed of the server's family below for exactly the measure phase of a run (labels run_id, system, " +
  'target and its own): the increase of a counter, the mean and the maximum of a gauge, the difference of a histogram ' +
  'with _quantile beside it; in base units';
