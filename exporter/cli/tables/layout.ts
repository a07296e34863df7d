import { styleText } from 'node:util';
import { wrapped } from '../../../core/text/words.ts';

type Color = 'green' | 'red' | 'yellow';

/** The words that a terminal shows in color, and nothing else. */
const COLORS: Readonly<Record<string, Color>> = {
  ...{ met: 'green', 'NOT MET': 'red', undecided: 'yellow' },
  ...{ improved: 'green', unchanged: 'green', regressed: 'red', suspect: 'yellow' },
  ...{ ok: 'green', saturated: 'red', exact: 'green', 'not exact': 'yellow', unknown: 'yellow' },
  ...{ holds: 'green', fails: 'red' },
  ...{ completed: 'green', aborted: 'yellow', failed: 'red' },
};

/** Puts a verdict in color; any other text stays as it is. */
export type Paint = (verdict: string) => string;

export const PLAIN: Paint = (verdict) => verdict;

/** As the stream's terminal and NO_COLOR, FORCE_COLOR, NODE_DISABLE_COLORS and TERM want it. */
export function paintOn(stream: NodeJS.WriteStream): Paint {
  return (verdict) => {
    const color = Object.hasOwn(COLORS, verdict) ? COLORS[verdict] : undefined;
    return color === undefined ? verdict : styleText(color, verdict, { stream });
  };
}

/** Every verdict in its color, as a stream with colors gets it. */
export const COLORED_VERDICTS: readonly string[] = Object.entries(COLORS).map(([verdict, color]) =>
  styleText(color, verdict, { validateStream: false }),
);

/** Aligns the first column left and the others right. Cells below the lines of the head that are a verdict are painted. */
export function aligned(rows: readonly (readonly string[])[], paint: Paint = PLAIN, headLines = 1): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row, line) =>
    row
      .map((cell, column) => {
        const fill = ' '.repeat((widths[column] ?? 0) - cell.length);
        const text = line < headLines ? cell : paint(cell);
        return column === 0 ? `${text}${fill}` : `${fill}${text}`;
      })
      .join('  ')
      .trimEnd(),
  );
}

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

/** Width of the names before the values. */
const NAME_WIDTH = 12;
const MIN_TEXT = 40;
const JOINT = '\u00a0';

/** How facts and tables are printed. */
export interface Print {
  /** Characters of a line; infinite: lines are not broken. */
  readonly width: number;
  readonly paint: Paint;
}

export const TO_FILE: Print = { width: Infinity, paint: PLAIN };

/** A fact as `name        text`; a long text goes on below its beginning, not below its name. */
export function factLines(name: string, text: string, width = Infinity): string[] {
  // A number stays with its unit.
  const joined = text.replace(/(?<=\d) (?=\p{L}|%)/gu, JOINT);
  const lines = wrapped(joined, Math.max(MIN_TEXT, width - NAME_WIDTH)).map((line) => line.replaceAll(JOINT, ' '));
  return lines.map((line, i) => `${(i === 0 ? name : '').padEnd(NAME_WIDTH)}${line.trim()}`.trimEnd());
}

/** A fact whose text begins with a verdict, followed by `more`. */
export function verdictLines(name: string, verdict: string, more: string, { width, paint }: Print): string[] {
  const [first = '', ...others] = factLines(name, `${verdict}${more}`, width);
  const [before, after] = [first.slice(0, NAME_WIDTH), first.slice(NAME_WIDTH + verdict.length)];
  return [`${before}${paint(verdict)}${after}`, ...others];
}
