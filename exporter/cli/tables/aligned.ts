import { PLAIN, type Paint } from '../verdict-colors.ts';

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
