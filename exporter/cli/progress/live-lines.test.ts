import { expect, test } from '@jest/globals';
import { LiveLines } from './live-lines.ts';

const ESCAPE = '\u001b';

/** The lines of a terminal that knows the two sequences in use: cursor up, and erase to the end of the screen. */
function screen(written: string): string[] {
  const lines: string[] = [''];
  for (const [i, part] of written.split(ESCAPE).entries()) {
    const [, up, erased, text = ''] =
      i === 0 ? ['', undefined, undefined, part] : (/^(?:\[(\d+)A|\[(J))(.*)$/s.exec(part) ?? []);
    // The cursor is on the last line, at its beginning.
    if (up !== undefined) lines.length -= Number(up);
    if (erased !== undefined) lines[lines.length - 1] = '';
    const [first = '', ...more] = text.split('\n');
    lines[lines.length - 1] += first;
    lines.push(...more);
  }
  return lines;
}

test('a printed line stays above what is redrawn', () => {
  let written = '';
  const out = { isTTY: true, write: (text: string) => ((written += text), true) } as unknown as NodeJS.WriteStream;
  const display = new LiveLines(out);
  display.draw(['sent 1', 'rate 1']);
  display.print('stopping');
  display.draw(['sent 2', 'rate 2']);
  display.draw(['sent 3', 'rate 3']);
  expect(screen(written)).toEqual(['stopping', 'sent 3', 'rate 3', '']);
  display.clear();
  expect(screen(written)).toEqual(['stopping', '']);
});
