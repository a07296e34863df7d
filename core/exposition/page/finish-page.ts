import { findDuplicateRows, removeRows } from './duplicates.ts';
import type { Duplicates, Labels } from '../exposition.ts';
import { seriesText } from '../label-text.ts';
import { PageLayout } from './page-layout.ts';
import type { PageValues } from './parsed-exposition.ts';
import type { Page } from './read-page.ts';

const MAX_EXAMPLES = 10;

/** Takes duplicates out of the rows of a page and makes its columns final. */
export function finishPage(page: Page): { layout: PageLayout; values: PageValues } {
  const { rows, dictionaries } = page;
  const repeated = findDuplicateRows(rows, dictionaries);
  const duplicates = describe(page, repeated);
  if (repeated.length > 0) removeRows(rows, repeated);
  const { count } = rows;
  const layout = new PageLayout(
    page.dialect,
    dictionaries,
    {
      nameIds: rows.nameIds.slice(0, count),
      labelSetIds: rows.labelSetIds.slice(0, count),
      boundIds: rows.boundIds.slice(0, count),
    },
    rows.metadata,
    duplicates,
  );
  const values: PageValues = {
    values: rows.values.slice(0, count),
    timestampsSeconds: rows.timestampsSeconds?.slice(0, count) ?? null,
    exemplars: rows.exemplars,
    missingFinalNewline: page.missingFinalNewline,
  };
  return { layout, values };
}

function describe({ rows, dictionaries, cursor }: Page, repeated: readonly number[]): Duplicates {
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
