import { describe, expect, test } from '@jest/globals';
import { exampleRecord } from '../store/fixtures/example-run.ts';
import { MAX_DOTS, RequestViewBuilder } from './request-view.ts';
import type { RequestView } from './request-view.ts';

function viewOf(records: readonly ReturnType<typeof exampleRecord>[]): RequestView {
  const builder = new RequestViewBuilder();
  records.forEach((record) => builder.add(record));
  const view = builder.view();
  if (view === null) throw new Error('there are no records');
  return view;
}

// Two slots of 100 ms each, the first request is the warm-up, every fifth fails: see exampleRecord.
const VIEW = viewOf(Array.from({ length: 100 }, (_, i) => exampleRecord(i)));

describe('a run', () => {
  test('distributions are those of the ok requests that were measured', () => {
    expect(VIEW.timeToFirstToken.sorted).toHaveLength(79);
    expect(VIEW.failed).toBe(20);
    // Two gaps each.
    expect(VIEW.gaps?.counts.at(-1)).toBe(158);
  });

  test('the warm-up is drawn over time', () => {
    expect(VIEW.timeToFirstToken.requests).toBe(80);
  });

  test('sums over time are those of the records', () => {
    const { bins } = VIEW;
    const total = (perSecond: readonly number[]): number =>
      perSecond.reduce(
        (sum, value, bin) =>
          sum + value * (bin === bins.count - 1 ? bins.spanSeconds - bin * bins.widthSeconds : bins.widthSeconds),
        0,
      );
    expect(total(VIEW.okPerSecond)).toBeCloseTo(80, 6);
    expect(total(VIEW.failedPerSecond)).toBeCloseTo(20, 6);
    expect(total(VIEW.tokensPerSecond ?? [])).toBeCloseTo(80 * 3, 6);
    expect(VIEW.inFlight[3]).toBeCloseTo(1.98, 3);
  });
});

test('tokens are not drawn if one response does not report them', () => {
  expect(viewOf([exampleRecord(1), exampleRecord(2, { output_tokens: null })]).tokensPerSecond).toBeNull();
});

test('of many requests a sample is drawn, and the total is known', () => {
  const view = viewOf(Array.from({ length: 5000 }, (_, i) => exampleRecord(i)));
  expect(view.requestLatency.dots).toHaveLength(MAX_DOTS);
  expect(view.requestLatency.requests).toBe(4000);
  expect(new Set(view.requestLatency.dots.map(([at]) => at)).size).toBeGreaterThan(MAX_DOTS / 2);
});

test('without records there is no view', () => {
  expect(new RequestViewBuilder().view()).toBeNull();
});

test('records without latencies give an empty view', () => {
  const view = viewOf([exampleRecord(4)]);
  expect([view.timeToFirstToken.sorted.length, view.gaps, view.failed]).toEqual([0, null, 1]);
});
