import { seriesText, type Duplicates, type Labels } from '../exposition.ts';
import type { Dictionaries } from './byte-interner.ts';
import type { PageRows } from './page-rows.ts';
import { PageLayout, type PageValues } from './parsed-exposition.ts';
import type { Page } from './read-page.ts';

/** Rows whose series and time stand in an earlier row, ascending. */
function findDuplicateRows(rows: PageRows, dictionaries: Dictionaries): number[] {
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
function removeRows(rows: PageRows, removed: readonly number[]): void {
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

const MAX_EXAMPLES = 10;

/** The parts of a page that its columns require. */
export type UnfinishedPage = Omit<Page, 'cursor'> & { readonly cursor: Pick<Page['cursor'], 'lineNumber'> };

/** Takes duplicates out of the rows of a page and makes its columns final. */
export function finishPage(page: UnfinishedPage): { layout: PageLayout; values: PageValues } {
  const { rows, dictionaries } = page;
  const repeated = findDuplicateRows(rows, dictionaries);
  const duplicates = describe(page, repeated);
  if (repeated.length > 0) removeRows(rows, repeated);
  const { count } = rows;
  const layout = new PageLayout(
    page.dialect,
    dictionaries,
    {
      nameIds: exact(rows.nameIds, count),
      labelSetIds: exact(rows.labelSetIds, count),
      boundIds: exact(rows.boundIds, count),
    },
    rows.metadata,
    duplicates,
  );
  return { layout, values: valuesOf(page) };
}

/** What differs between pages of the same layout. */
export function valuesOf({ rows, missingFinalNewline }: UnfinishedPage): PageValues {
  const { count, values, timestampsSeconds, exemplars } = rows;
  return {
    values: exact(values, count),
    timestampsSeconds: timestampsSeconds === null ? null : exact(timestampsSeconds, count),
    exemplars,
    missingFinalNewline,
  };
}

/** The columns grow in steps: what is kept has no free room. */
function exact<T extends Float64Array | Int32Array>(column: T, count: number): T {
  return column.length === count ? column : (column.slice(0, count) as T);
}

function describe({ rows, dictionaries, cursor }: UnfinishedPage, repeated: readonly number[]): Duplicates {
  const examples = repeated.slice(0, MAX_EXAMPLES).map((row) => {
    const labels = dictionaries.labelSets.sets[rows.labelSetIds[row] as number] as Labels;
    const boundId = rows.boundIds[row] as number;
    const all = boundId < 0 ? labels : { ...labels, le: dictionaries.bounds[boundId] as string };
    return {
      line: cursor.lineNumber(rows.lineStarts[row] as number),
      series: seriesText(dictionaries.names[rows.nameIds[row] as number] as string, all),
    };
  });
  return { count: repeated.length, examples };
}
