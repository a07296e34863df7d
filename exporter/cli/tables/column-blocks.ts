import { PLAIN, type Paint } from '../verdict-colors.ts';
import { aligned } from './aligned.ts';

/** A column of a table; every column has as many lines of head, and as many cells. */
export interface TableColumn {
  readonly head: readonly string[];
  readonly cells: readonly string[];
}

/**
 * The lines of a table. One that is wider than `width` continues in a second one below, which repeats the first column,
 * so that nothing is left out.
 */
export function columnBlocks(
  [names, ...columns]: readonly TableColumn[],
  width = Infinity,
  paint: Paint = PLAIN,
): string[] {
  if (names === undefined) return [];
  const blocks: TableColumn[][] = [[names]];
  for (const column of columns) {
    const block = blocks.at(-1) ?? [];
    if (block.length > 1 && widthOf([...block, column]) > width) blocks.push([names, column]);
    else block.push(column);
  }
  return blocks.flatMap((block, i) => [...(i > 0 ? [''] : []), ...linesOf(block, paint)]);
}

function linesOf(columns: readonly TableColumn[], paint: Paint = PLAIN): string[] {
  const row = (part: 'head' | 'cells') => (_: string, line: number) => columns.map((each) => each[part][line] ?? '');
  const [names] = columns;
  const rows = [...(names?.head.map(row('head')) ?? []), ...(names?.cells.map(row('cells')) ?? [])];
  return aligned(rows, paint, names?.head.length ?? 0);
}

const widthOf = (columns: readonly TableColumn[]): number => Math.max(...linesOf(columns).map((line) => line.length));
