import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { jsonText } from './durable-file.ts';

test('a line per member, and per element of a list', () => {
  const value = {
    id: 'a',
    none: undefined,
    empty: [],
    measures: [
      { mean: 1, p50: null },
      { mean: 2, p50: 3 },
    ],
  };
  expect(jsonText(value)).toBe(
    '{\n  "id": "a",\n  "empty": [],\n  "measures": [\n    { "mean": 1, "p50": null },\n    { "mean": 2, "p50": 3 }\n  ]\n}\n',
  );
});

test('property: it has the value that JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.object(), fc.array(fc.anything({ withBigInt: false }))), (value) => {
      expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
