import { expect, test } from '@jest/globals';
import type { FamilyInput } from '../../../core/exposition/index.ts';
import { StateWriter } from './scenario-pusher.ts';

const family = (runs: readonly string[]): readonly FamilyInput[] =>
  runs.map((run_id) => ({
    name: 'm',
    help: 'h',
    type: 'gauge',
    samples: [{ labels: { run_id }, value: runs.length }],
  }));

/** What was written, by the run ids of the layouts. */
function writer() {
  const layouts = new Map<number, string>();
  const written: unknown[] = [];
  const sink = new StateWriter(
    {
      declare: (number, { series }) =>
        void layouts.set(number, series.map(({ labels }) => Object.fromEntries(labels)['run_id']).join()),
      append: (number, { time_ms, values }) => void written.push([layouts.get(number), time_ms, values]),
    },
    { site: 'lab' },
  );
  return { sink, written };
}

test('a state is written again as long as it holds, and ends just before the next one that lacks a series', () => {
  const { sink, written } = writer();
  sink.write(family(['a', 'b']), 1000);
  sink.write(family(['a', 'b']), 61_000);
  sink.write(family(['c']), 121_000);
  sink.end(130_000);
  expect(written).toEqual([
    ['a,b', 1000, [2, 2]],
    ['a,b', 61_000, [2, 2]],
    ['a,b', 120_999, null],
    ['c', 121_000, [1]],
    ['c', 130_000, null],
  ]);
});

test('nothing is written for nothing, and a clock that is set back does not go back', () => {
  const { sink, written } = writer();
  sink.write([], 500);
  sink.write(family(['a']), 1000);
  sink.write(family(['a']), 400);
  sink.write([], 300);
  sink.end(2000);
  expect(written).toEqual([
    ['a', 1000, [1]],
    ['a', 1002, [1]],
    ['a', 1003, null],
  ]);
});
