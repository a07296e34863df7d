import { findDuplicateRows, removeRows } from './duplicates.ts';
import type { Duplicates, Labels } from '../exposition.ts';
import { seriesText } from '../label-text.ts';
import { PageLayout } from './page-layout.ts';
import type { PageValues } from './parsed-exposition.ts';
import type { Page } from './read-page.ts';

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
