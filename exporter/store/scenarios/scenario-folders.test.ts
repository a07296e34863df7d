import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { folderName, scenarioPaths } from './scenario-folders.ts';

test.each([
  ['nightly', 'nightly'],
  ['llama 3.1/8B', 'llama%203.1%2f8B'],
  ['..', '%2e.'],
  ['.hidden', '%2ehidden'],
  ['größe', 'gr%c3%b6%c3%9fe'],
])('the folder of %j is %s', (scenario, expected) => {
  expect(folderName(scenario)).toBe(expected);
});

test('every scenario has one folder below scenarios/, and no two share one', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({ unit: 'binary', maxLength: 400 }),
      (a, b) => {
        const name = folderName(a);
        expect(name).toMatch(/^[0-9A-Za-z_%~-][0-9A-Za-z_.%~-]*$/);
        expect(name.length).toBeLessThanOrEqual(255);
        // Lone surrogates are not text: as UTF-8 they are all the same.
        if (Buffer.from(a).equals(Buffer.from(b))) return;
        expect(name).not.toBe(folderName(b));
      },
    ),
  );
});

test('the files of a scenario', () => {
  expect(scenarioPaths('/runs', 'chat')).toEqual({
    folder: join('/runs', 'scenarios', 'chat'),
    baseline: join('/runs', 'scenarios', 'chat', 'baseline.jsonl'),
    verdicts: join('/runs', 'scenarios', 'chat', 'verdicts.jsonl'),
    capacity: join('/runs', 'scenarios', 'chat', 'capacity'),
  });
});
