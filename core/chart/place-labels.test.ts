import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { placeLabels, type LabelSpace, type PlacedLabel } from './place-labels.ts';

const SPACE: LabelSpace = { left: 0, right: 400, top: 0, bottom: 300, characterWidth: 7, lineHeight: 15 };

test('a lone label is to the upper right of its point, at the right edge to the upper left', () => {
  expect(placeLabels([{ x: 50, y: 100, text: '8' }], [{ x: 50, y: 100 }], SPACE)[0]).toMatchObject({ align: 'start' });
  expect(placeLabels([{ x: 398, y: 100, text: '8' }], [{ x: 398, y: 100 }], SPACE)[0]).toMatchObject({ align: 'end' });
});

test('a label that has no place is left out', () => {
  const crowd = Array.from({ length: 40 }, () => ({ x: 50, y: 100, text: '1024' }));
  const placed = placeLabels(crowd, [{ x: 50, y: 100 }], SPACE);
  expect(placed[0]).not.toBeNull();
  expect(placed.at(-1)).toBeNull();
});

test('labels neither overlap nor leave the space', () => {
  const anchor = fc.record({
    x: fc.integer({ min: 0, max: 400 }),
    y: fc.integer({ min: 0, max: 300 }),
    text: fc.constantFrom('1', '64', '1,024', 'knee 64'),
  });
  const extent = (label: PlacedLabel, text: string): readonly [number, number] => {
    const width = text.length * SPACE.characterWidth;
    const left = label.align === 'start' ? label.x : label.align === 'end' ? label.x - width : label.x - width / 2;
    return [left, left + width];
  };
  fc.assert(
    fc.property(fc.array(anchor, { maxLength: 30 }), (anchors) => {
      const placed = placeLabels(anchors, anchors, SPACE).flatMap((label, i) =>
        label === null ? [] : [{ label, range: extent(label, anchors[i]?.text ?? '') }],
      );
      for (const { range } of placed) {
        expect(range[0]).toBeGreaterThanOrEqual(SPACE.left);
        expect(range[1]).toBeLessThanOrEqual(SPACE.right);
      }
      const together = placed.some(({ label, range }, i) =>
        placed
          .slice(i + 1)
          .some(
            (other) => Math.abs(other.label.y - label.y) < 10 && other.range[0] < range[1] && range[0] < other.range[1],
          ),
      );
      expect(together).toBe(false);
    }),
  );
});
