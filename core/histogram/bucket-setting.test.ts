import { describe, expect, test } from '@jest/globals';
import {
  bucketSettings,
  optionOf,
  finerSpacing,
  logSpacedBounds,
  spacingOf,
  type BucketOption,
} from './bucket-setting.ts';

const flag: BucketOption = {
  name: '--bucket-ttft',
  place: 'argument',
  takes: 'list',
  part: '--bucket-ttft {bounds}',
  sets: [{ families: ['ttft'] }],
};
const json: BucketOption = {
  name: '--buckets',
  place: 'argument',
  takes: 'list',
  part: '"{key}": [{bounds}]',
  separator: ', ',
  part_separator: ', ',
  setting: "--buckets '{{parts}}'",
  sets: [
    { key: 'latency', families: ['e2e', 'queue'] },
    { key: 'ttft', families: ['ttft'] },
  ],
};
const variables: BucketOption = {
  name: 'TTFT_{MIN,MAX,COUNT}',
  place: 'environment',
  takes: 'log_spaced',
  part: 'TTFT_MIN={min} TTFT_MAX={max} TTFT_COUNT={count}',
  most_bounds: 512,
  sets: [{ families: ['ttft'] }],
};
const ttft = { family: 'ttft', bounds: [0.1, 0.2], divided: [{ low: 0.1, high: 0.2, bound: 0.15 }] };

describe('bucketSettings', () => {
  test('writes a list of all bounds', () => {
    expect(bucketSettings([flag], [ttft])).toEqual([
      { option: flag, text: '--bucket-ttft 0.1 0.15 0.2', families: [{ family: 'ttft', bounds: [0.1, 0.15, 0.2] }] },
    ]);
  });

  test('joins the families of an option in one setting, and those of a key in one list', () => {
    const e2e = { family: 'e2e', bounds: [1, 2], divided: [{ low: 0, high: 1, bound: 0.5 }] };
    const queue = { family: 'queue', bounds: [1, 2], divided: [{ low: 1, high: 2, bound: 1.5 }] };
    const [setting] = bucketSettings([json], [ttft, e2e, queue]);
    expect(setting?.text).toBe(`--buckets '{"latency": [0.5, 1, 1.5, 2], "ttft": [0.1, 0.15, 0.2]}'`);
    expect(setting?.families.map(({ family }) => family)).toEqual(['e2e', 'queue', 'ttft']);
  });

  test('leaves out keys and options without a bucket to divide', () => {
    const queue = { family: 'queue', bounds: [1, 2], divided: [] };
    expect(bucketSettings([json], [ttft, queue])[0]?.text).toBe(`--buckets '{"ttft": [0.1, 0.15, 0.2]}'`);
    expect(bucketSettings([json], [queue])).toEqual([]);
  });

  test('leaves out the 0 that the server adds', () => {
    const zero = { ...ttft, bounds: [0, 0.1, 0.2] };
    const [setting] = bucketSettings([{ ...flag, adds_zero: true }], [zero]);
    expect(setting?.text).toBe('--bucket-ttft 0.1 0.15 0.2');
    expect(setting?.families[0]?.bounds).toEqual([0, 0.1, 0.15, 0.2]);
  });

  test('writes the three numbers of a spacing', () => {
    const bounds = [0, 0.0022, 0.0047, 0.01, 0.022, 0.047, 0.1, 0.22, 0.47, 1, 2.2, 4.7, 10, 22, 48, 100, 220, 480];
    const divided = [{ low: 0.1, high: 0.22, bound: 0.16 }];
    const [setting] = bucketSettings([variables], [{ family: 'ttft', bounds, divided }]);
    expect(setting?.text).toMatch(/^TTFT_MIN=0\.001 TTFT_MAX=480 TTFT_COUNT=\d+$/);
  });

  test('has no text where no value of the option is enough', () => {
    const [setting] = bucketSettings([{ ...flag, most_bounds: 2 }], [ttft]);
    expect(setting).toMatchObject({ text: null, families: [{ family: 'ttft', bounds: [0.1, 0.2] }] });
  });
});

test('the option of a family', () => {
  expect(optionOf([flag, json], 'queue')).toBe(json);
  expect(optionOf([flag, json], 'other')).toBeNull();
});

/** The buckets of Dynamo's documentation for its default numbers. */
const TTFT = [0, 0.0022, 0.0047, 0.01, 0.022, 0.047, 0.1, 0.22, 0.47, 1, 2.2, 4.7, 10, 22, 48, 100, 220, 480];
const ITL = [0, 0.0019, 0.0035, 0.0067, 0.013, 0.024, 0.045, 0.084, 0.16, 0.3, 0.56, 1.1, 2];
const INPUT = [0, 100, 210, 430, 870, 1800, 3600, 7400, 15000, 31000, 63000, 130000];

describe('logSpacedBounds', () => {
  test.each([
    [{ min: 0.001, max: 480, count: 18 }, TTFT],
    [{ min: 0.001, max: 2, count: 13 }, ITL],
    [{ min: 50, max: 128000, count: 12 }, INPUT],
  ])('of %p', (spacing, bounds) => {
    expect(logSpacedBounds(spacing)).toEqual(bounds);
  });

  test('has each bound once, where two digits do not distinguish them', () => {
    expect(logSpacedBounds({ min: 1, max: 1.2, count: 9 })).toEqual([0, 1, 1.1, 1.2]);
  });
});

describe('spacingOf', () => {
  test.each([
    [TTFT, { min: 0.001, max: 480, count: 18 }],
    [ITL, { min: 0.001, max: 2, count: 13 }],
  ])('finds the numbers of a grid', (bounds, spacing) => {
    expect(spacingOf(bounds)).toEqual(spacing);
  });

  test('too few bounds have none', () => {
    expect(spacingOf([0, 1, 2])).toBeNull();
  });
});

describe('finerSpacing', () => {
  test('is the smallest count whose buckets are at most half as wide there', () => {
    const bucket = { low: 0.1, high: 0.22, bound: 0.16 };
    const found = finerSpacing(TTFT, [bucket], 512);
    expect(found).toMatchObject({ min: 0.001, max: 480 });
    const widest = (count: number): number => {
      const bounds = logSpacedBounds({ min: 0.001, max: 480, count });
      const touching = bounds.flatMap((bound, i) => {
        const low = bounds[i - 1] ?? 0;
        return low < 0.22 && bound > 0.1 ? [bound - low] : [];
      });
      return Math.max(...touching);
    };
    const count = found?.count ?? 0;
    expect(count).toBeGreaterThan(18);
    expect(widest(count)).toBeLessThanOrEqual(0.06 * (1 + 1e-9));
    for (let fewer = 18; fewer < count; fewer++) expect(widest(fewer)).toBeGreaterThan(0.06 * (1 + 1e-9));
  });

  test('begins lower when the first bucket above 0 is to be divided', () => {
    const found = finerSpacing(TTFT, [{ low: 0, high: 0.0022, bound: 0.0011 }], 512);
    if (found === null) throw new Error('nothing found');
    expect(found.min).toBeLessThan(0.001);
    expect(logSpacedBounds(found)[1]).toBeLessThanOrEqual(0.0011);
  });

  test('is null where the server takes too few bounds', () => {
    expect(finerSpacing(TTFT, [{ low: 0.1, high: 0.22, bound: 0.16 }], 20)).toBeNull();
  });
});
