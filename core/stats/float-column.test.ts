import { expect, test } from '@jest/globals';
import { FloatColumn } from './float-column.ts';

test.each([[0], [1], [16_384], [16_385], [40_000]])('%i numbers come back in their order', (length) => {
  const column = new FloatColumn();
  for (let i = 0; i < length; i++) column.append(i * 0.5);
  expect(column.length).toBe(length);
  expect(column.toArray()).toEqual(Float64Array.from({ length }, (_, i) => i * 0.5));
});
