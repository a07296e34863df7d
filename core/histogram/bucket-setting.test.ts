import { describe, expect, test } from '@jest/globals';
import { bucketSettings, optionOf, type BucketOption } from './bucket-setting.ts';

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
