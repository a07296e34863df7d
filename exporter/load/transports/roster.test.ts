import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Roster } from './roster.ts';

test('has the same members as a Set after any additions and removals', () => {
  const steps = fc.array(fc.oneof(fc.constant('add' as const), fc.nat()), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (each) => {
      const roster = new Roster<{ place: number }>();
      const expected = new Set<{ place: number }>();
      const ever: { place: number }[] = [];
      for (const step of each) {
        if (step === 'add') {
          const item = { place: -1 };
          item.place = roster.add(item);
          expected.add(item);
          ever.push(item);
        } else {
          // Also of one who left long ago, whose place another may have by now.
          const item = ever[step % Math.max(1, ever.length)];
          if (item === undefined) continue;
          roster.remove(item, item.place);
          expected.delete(item);
        }
        const found = new Set<object>();
        roster.forEach((item) => found.add(item));
        expect([roster.size, found]).toEqual([expected.size, expected]);
      }
    }),
    { numRuns: 50 },
  );
});

test('a member removed during iteration is not visited', () => {
  const roster = new Roster<{ name: string }>();
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  const places = [a, b, c].map((item) => roster.add(item));
  const seen: string[] = [];
  roster.forEach(({ name }) => {
    seen.push(name);
    roster.remove(b, places[1] ?? -1);
  });
  expect(seen).toEqual(['a', 'c']);
});
