import type { Dictionaries } from './dictionaries.ts';
import type { PageRows } from './page-rows.ts';

/** Rows whose series and time stand in an earlier row, ascending. */
export function findDuplicateRows(rows: PageRows, dictionaries: Dictionaries): number[] {
  const { count, nameIds, labelSetIds, boundIds, timestampsSeconds } = rows;
  const { identities } = dictionaries.labelSets;
  let capacity = 16;
  while (capacity < count * 2) capacity *= 2;
  const mask = capacity - 1;
  const slots = new Int32Array(capacity);
  const duplicates: number[] = [];
  for (let row = 0; row < count; row++) {
    const name = nameIds[row] as number;
    const set = identities[labelSetIds[row] as number] as number;
    const bound = boundIds[row] as number;
    let hash = Math.imul(name, 0x9e3779b1) ^ Math.imul(set + 1, 0x85ebca6b) ^ Math.imul(bound + 2, 0xc2b2ae35);
    hash ^= hash >>> 15;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const other = (slots[slot] as number) - 1;
      if (other < 0) {
        slots[slot] = row + 1;
        break;
      }
      if (
        nameIds[other] === name &&
        boundIds[other] === bound &&
        identities[labelSetIds[other] as number] === set &&
        (timestampsSeconds === null || Object.is(timestampsSeconds[other], timestampsSeconds[row]))
      ) {
        duplicates.push(row);
        break;
      }
    }
  }
  return duplicates;
}

/** Removes rows from the columns and adjusts references to rows. */
export function removeRows(rows: PageRows, removed: readonly number[]): void {
  const exemplars = [...rows.exemplars];
  rows.exemplars.clear();
  const shift = shiftOf(removed);
  for (const [row, exemplar] of exemplars) {
    const before = shift(row);
    if (removed[before] !== row) rows.exemplars.set(row - before, exemplar);
  }
  rows.metadata.forEach((line, i) => {
    rows.metadata[i] = { ...line, row: line.row - shift(line.row) };
  });
  let to = 0;
  let next = 0;
  for (let row = 0; row < rows.count; row++) {
    if (removed[next] === row) {
      next++;
      continue;
    }
    rows.nameIds[to] = rows.nameIds[row] as number;
    rows.labelSetIds[to] = rows.labelSetIds[row] as number;
    rows.boundIds[to] = rows.boundIds[row] as number;
    rows.values[to] = rows.values[row] as number;
    if (rows.timestampsSeconds !== null) rows.timestampsSeconds[to] = rows.timestampsSeconds[row] as number;
    to++;
  }
  rows.count = to;
}

/** How many removed rows stand before a row. */
function shiftOf(removed: readonly number[]): (row: number) => number {
  return (row) => {
    let low = 0;
    let high = removed.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((removed[middle] as number) < row) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
