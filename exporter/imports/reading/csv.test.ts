import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { csvRows } from './csv.ts';

test('RFC 4180: quotes, commas and line ends in fields, both line ends', () => {
  expect([...csvRows('a,"b,""c""\nd",\r\n\n1,2,3')]).toEqual([['a', 'b,"c"\nd', ''], [''], ['1', '2', '3']]);
  expect([...csvRows('a,')]).toEqual([['a', '']]);
  expect([...csvRows('"never closed')]).toEqual([['never closed']]);
  expect([...csvRows('')]).toEqual([]);
});

test('property: what is quoted is read back', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ') });
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 }), (rows) => {
      const text = rows.map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(',')).join('\r\n');
      expect([...csvRows(text)]).toEqual(rows);
    }),
  );
});
