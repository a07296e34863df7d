import { findDuplicateRows, removeRows } from './duplicates.ts';
import type { Duplicates, Labels } from '../exposition.ts';
import { seriesText } from '../label-text.ts';
import { PageLayout } from './page-layout.ts';
import type { PageValues } from './parsed-exposition.ts';
import type { PageRows } from './page-rows.ts';
import type { Page } from './read-page.ts';

const MAX_EXAMPLES = 10;

/** The parts of a page that its columns require. */
export type UnfinishedPage = Omit<Page, 'cursor'> & { readonly cursor: Pick<Page['cursor'], 'lineNumber'> };

/** Takes duplicates out of the rows of a page (found here unless they are given) and makes its columns final. */
export function finishPage(
  page: UnfinishedPage,
  found?: readonly number[],
): { layout: PageLayout; values: PageValues } {
  const { rows, dictionaries } = page;
  const repeated = found ?? findDuplicateRows(rows, dictionaries);
  const duplicates = describe(page, repeated);
  if (repeated.length > 0) {
    disown(rows);
    removeRows(rows, repeated);
  }
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
  const values: PageValues = {
    values: exact(rows.values, count),
    timestampsSeconds: rows.timestampsSeconds === null ? null : exact(rows.timestampsSeconds, count),
    exemplars: rows.exemplars,
    missingFinalNewline: page.missingFinalNewline,
  };
  return { layout, values };
}

/** Rows are taken out of columns with a single owner. */
function disown(rows: PageRows): void {
  rows.nameIds = rows.nameIds.slice();
  rows.labelSetIds = rows.labelSetIds.slice();
  rows.boundIds = rows.boundIds.slice();
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
