const CONTROL = /\x1b\[(\d*)([A-Za-z])|[\r\n]|[^\x1b\r\n]+/gu; // eslint-disable-line no-control-regex

/**
 * The lines of a terminal of so many columns after a text was written to it, however long: line feed, carriage return,
 * cursor up, and erasing to the end of the line or screen. Any other sequence throws.
 */
export function screenOf(written: string, columns = Infinity): string[] {
  const rows: string[] = [''];
  let [row, column] = [0, 0];
  const down = (): void => {
    row += 1;
    if (row === rows.length) rows.push('');
  };
  const erase = (): void => void (rows[row] = (rows[row] ?? '').slice(0, column));
  const put = (character: string): void => {
    if (column === columns) {
      column = 0;
      down();
    }
    const line = (rows[row] ?? '').padEnd(column);
    rows[row] = `${line.slice(0, column)}${character}${line.slice(column + 1)}`;
    column += 1;
  };
  for (const [part, count = '', command] of written.matchAll(CONTROL)) {
    if (part === '\r') column = 0;
    // The terminal driver returns the carriage too.
    else if (part === '\n') [column] = [0, down()];
    else if (command === undefined) for (const character of part) put(character);
    else if (command === 'A') row = Math.max(0, row - Number(count || 1));
    else if (command === 'K' && count === '') erase();
    else if (command === 'J' && count === '') {
      rows.length = row + 1;
      erase();
    } else if (command !== 'm') throw new Error(`unknown control sequence ${JSON.stringify(part)}`);
  }
  return rows;
}
