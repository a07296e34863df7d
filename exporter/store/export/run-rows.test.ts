import { expect, test } from '@jest/globals';
import { csvCell, csvLine } from './run-rows.ts';

test.each([
  [null, ''],
  [undefined, ''],
  [0, '0'],
  [-1.5, '-1.5'],
  [true, 'true'],
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  [[1, 2], '"[1,2]"'],
  // A spreadsheet would interpret these as formulas.
  ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['+cmd', "'+cmd"],
  ['-cmd', "'-cmd"],
  // A number as text is not a formula.
  ['-5', '-5'],
])('%j is %j', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

test('a line', () => {
  expect(csvLine(['a', 1, null])).toBe('a,1,\n');
});
