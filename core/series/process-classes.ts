import type { Sighting } from './sighting.ts';

/** A label that names processes is carried by at least this share of the families, and not by a single one of several. */
const FAMILIES_OF_PROCESSES = 1 / 3;

/**
 * Divisions of the series that may be divisions into processes, as indices by the value of a label; series without the
 * label are a class too, under ''. A label of few families, such as a status or a path, does not name processes.
 */
export function classesByLabel(sightings: readonly Sighting[]): Map<string, number[]>[] {
  return [
    ...divisions(sightings, ({ mayName }) => mayName, 1),
    ...divisions(sightings, ({ describedBy }) => describedBy, 2),
  ];
}

function divisions(
  sightings: readonly Sighting[],
  labelsOf: (one: Sighting) => ReadonlyMap<string, string>,
  leastValues: number,
): Map<string, number[]>[] {
  const families = countFamilies(sightings);
  const leastFamilies = Math.max(Math.min(families, 2), families * FAMILIES_OF_PROCESSES);
  const labels = new Set(sightings.flatMap((one) => [...labelsOf(one).keys()]));
  return Array.from(labels).flatMap((label) => {
    const carriers = sightings.filter((one) => labelsOf(one).has(label));
    if (countFamilies(carriers) < leastFamilies) return [];
    const classes = indicesBy(sightings, (one) => labelsOf(one).get(label) ?? '');
    const values = classes.size - (classes.has('') ? 1 : 0);
    return classes.size < 2 || values < leastValues ? [] : [classes];
  });
}

export const countFamilies = (sightings: readonly Sighting[]): number =>
  new Set(sightings.map(({ family }) => family)).size;

export function indicesBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const [i, one] of all.entries()) {
    const key = keyOf(one);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [i]);
    else members.push(i);
  }
  return groups;
}
