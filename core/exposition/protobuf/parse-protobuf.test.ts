import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { quantileBounds } from '../../histogram/bounds.ts';
import { classicOfNative, exponentialQuantile } from '../../histogram/native-histogram.ts';
import { ExpositionError, parseExposition, parseText } from '../index.ts';
import type { Exposition, NativeHistogramSample, ParseLimits } from '../index.ts';
import { PROTOBUF, delimited, doubleField, field, message, text, varintField } from './testing/wire-writer.ts';

const fixture = (name: string): Uint8Array => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const parse = (bytes: Uint8Array, limits?: Partial<ParseLimits>): Exposition =>
  parseExposition(bytes, PROTOBUF, limits === undefined ? {} : { limits });

/** What Prometheus' own parser and its `histogram_quantile` made of the page: see fixtures/README.md. */
interface Expected {
  readonly Labels: Readonly<Record<string, string>>;
  readonly Schema: number;
  readonly Zero: readonly [threshold: string, count: string];
  readonly Count: string;
  readonly Sum: string;
  readonly Positive: readonly (readonly [low: string, high: string, count: string])[];
  readonly Negative: readonly (readonly [low: string, high: string, count: string])[];
  readonly Quantiles: Readonly<Record<string, string>>;
  readonly TimeMs: number | null;
  readonly StartMs: number;
}
const EXPECTED = JSON.parse(new TextDecoder().decode(fixture('native.json'))) as Expected[];
const number = (goText: string): number => (/Inf/.test(goText) ? Number(`${goText}inity`) : Number(goText));
const filled = (buckets: NativeHistogramSample['histogram']['positive']): number[][] =>
  buckets.filter(({ count }) => count > 0).map(({ low, high, count }) => [low, high, count]);

describe.each(['page.pb', 'page-packed.pb'])('a page of client_golang: %s', (name) => {
  const page = parse(fixture(name));

  test('has the families and samples of its text, start times and exemplars apart', () => {
    const asText = parseText(fixture('page.txt'));
    for (const family of asText.families) {
      const samples = page
        .family(family.name)
        ?.samples.filter((sample) => !sample.name.endsWith('_created'))
        .map((sample) => ({ ...sample, exemplar: null }));
      expect({ ...page.family(family.name), rows: null, samples }).toMatchObject({
        type: family.type,
        help: family.help,
        unit: null,
        samples: family.samples.map((sample) => ({ ...sample, labels: { ...sample.labels } })),
      });
    }
    expect(asText.families.map((family) => family.name)).toEqual(
      page.families.map((family) => family.name).filter((each) => !/native|gauge_histogram/.test(each)),
    );
    expect(page).toMatchObject({ format: 'protobuf', formatFallback: null, duplicates: { count: 0 } });
  });

  test('keeps exemplars and start times', () => {
    const requests = page.family('requests_total')?.samples ?? [];
    const exemplar = requests.find((sample) => sample.value === 3)?.exemplar;
    expect(exemplar).toMatchObject({ labels: { trace_id: 'é1' }, value: 3 });
    const created = requests.filter((sample) => sample.name === 'requests_total_created');
    expect(created).toHaveLength(2);
    for (const { value } of created) expect(Math.abs(value - (exemplar?.timestampSeconds ?? NaN))).toBeLessThan(1);
    expect(page.family('both_seconds')?.samples.some((sample) => sample.exemplar !== null)).toBe(true);
  });

  test.each(EXPECTED.map((expected) => [expected.Labels['__name__'] ?? '', expected] as const))(
    'native histogram %s as Prometheus reads it',
    (family, expected) => {
      const labels = Object.fromEntries(Object.entries(expected.Labels).filter(([label]) => label !== '__name__'));
      const sample = page.nativeHistograms.find(
        (each) => each.family === family && each.labels['model'] === labels['model'],
      );
      if (sample === undefined) throw new Error(`no native histogram ${family}`);
      const { histogram } = sample;
      expect({ ...sample.labels }).toEqual(labels);
      expect(histogram).toMatchObject({
        schema: expected.Schema,
        zeroThreshold: number(expected.Zero[0]),
        zeroCount: number(expected.Zero[1]),
        count: number(expected.Count),
        sum: number(expected.Sum),
        customBounds: null,
      });
      expect(filled(histogram.positive)).toEqual(expected.Positive.map((bucket) => bucket.map(number)));
      expect(filled(histogram.negative)).toEqual(expected.Negative.map((bucket) => bucket.map(number)));
      expect(sample.timestampSeconds).toBe(expected.TimeMs === null ? null : expected.TimeMs / 1000);
      if (expected.StartMs > 0) expect(Math.trunc((sample.createdSeconds ?? NaN) * 1000)).toBe(expected.StartMs);

      const classic = classicOfNative(histogram);
      for (const [q, value] of Object.entries(expected.Quantiles)) {
        const wanted = number(value);
        const got = exponentialQuantile(Number(q), classic);
        if (!Number.isFinite(wanted)) expect([NaN, wanted]).toContainEqual(got);
        else expect(Math.abs(got - wanted)).toBeLessThanOrEqual(1e-9 * Math.abs(wanted));
        const bounds = quantileBounds(Number(q), classic);
        if (Number.isFinite(got)) {
          expect(got).toBeGreaterThanOrEqual(bounds?.low ?? NaN);
          expect(got).toBeLessThanOrEqual(bounds?.high ?? NaN);
        }
      }
    },
  );

  test('is rejected wherever it is truncated, except between two families', () => {
    const bytes = fixture(name);
    let whole = 0;
    for (let length = 0; length < bytes.length; length++) {
      try {
        parse(bytes.subarray(0, length));
        whole++;
      } catch (error) {
        if (!(error instanceof ExpositionError)) throw error;
      }
    }
    expect(whole).toBe(page.families.length);
  });

  test('a byte that is changed never breaks the parser', () => {
    const bytes = Uint8Array.from(fixture(name));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
        const changed = Uint8Array.from(bytes);
        changed[at] = value;
        try {
          for (const { histogram } of parse(changed).nativeHistograms) classicOfNative(histogram);
        } catch (error) {
          if (!(error instanceof ExpositionError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('messages by hand', () => {
  test('a count of floats that is NaN is not 0', () => {
    const bucket = message(3, doubleField(4, NaN), doubleField(2, 1));
    const counts = message(4, message(7, doubleField(4, NaN), bucket));
    const { columns } = parse(Uint8Array.from(delimited([...text(1, 'h'), ...varintField(3, 4), ...counts])));
    expect([...columns.values]).toEqual([NaN, NaN, 0, NaN]);
  });

  const counter = (name: string, ...metric: number[][]): number[] =>
    delimited([...text(1, name), ...message(4, ...metric)]);
  const value = (number: number): number[] => message(3, doubleField(1, number));
  const histogram = (...fields: number[][]): Uint8Array =>
    Uint8Array.from(delimited([...text(1, 'h'), ...varintField(3, 4), ...message(4, message(7, ...fields))]));

  test('unknown fields are skipped', () => {
    const unknown = [varintField(100, 300), doubleField(101, 1), text(102, 'x'), field(103, 5, [1, 2, 3, 4])].flat();
    const page = parse(
      Uint8Array.from([...counter('a', unknown, value(2), unknown), ...delimited([...unknown, ...text(1, 'b')])]),
    );
    expect(page.families.map(({ name, samples }) => [name, samples.map((sample) => sample.value)])).toEqual([
      ['a', [2]],
      ['b', []],
    ]);
  });

  test('a series that is repeated counts once', () => {
    const page = parse(Uint8Array.from([...counter('a', value(1)), ...counter('a', value(2))]));
    expect(page.families[0]?.samples.map((sample) => sample.value)).toEqual([1]);
    expect(page).toMatchObject({ duplicates: { count: 1 }, repeatedMetadata: 1 });
  });

  test.each<[string, Uint8Array, string]>([
    ['a length that is cut off', Uint8Array.of(0x80), 'byte 0: a number that is cut off'],
    ['a length without end', new Uint8Array(20).fill(0xff), 'byte 0: a number of more than 10 bytes'],
    ['a huge length', Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x7f, 1), 'byte 5: a metric family of 34359738367 bytes'],
    ['a field number 0', Uint8Array.of(2, 0, 0), 'byte 1: a field without a valid number'],
    ['a group', Uint8Array.of(1, 0x0b), 'byte 2: wire type 3'],
    ['another wire type', Uint8Array.from(delimited(varintField(1, 1))), 'wire type 0 for a metric name'],
    ['a name that is not UTF-8', Uint8Array.of(3, 0x0a, 1, 0xff), 'a metric name is not valid UTF-8'],
    ['no name', Uint8Array.from(delimited(varintField(3, 1))), 'a metric family without a name'],
    ['an unknown type', Uint8Array.from(delimited([...text(1, 'a'), ...varintField(3, 9)])), 'the unknown type 9'],
    ['no value', Uint8Array.from(counter('a', [])), 'a metric of type counter without a value'],
    [
      'a label twice',
      Uint8Array.from(counter('a', message(1, text(1, 'l')), message(1, text(1, 'l')), value(1))),
      'a label name is not unique',
    ],
    ['a label without a name', Uint8Array.from(counter('a', message(1, []), value(1))), 'a label name is empty'],
    ['spans without buckets', histogram(message(12, varintField(2, 2 ** 31))), 'spans need 2147483648 buckets'],
    ['custom buckets', histogram(varintField(5, 105), message(12, [])), 'without their bounds'],
    ['an unknown schema', histogram(varintField(5, 9), message(12, [])), 'schema -5'],
    ['a negative bucket', histogram(message(12, varintField(2, 1)), varintField(13, 1)), 'a negative bucket'],
    [
      'spans that overlap',
      histogram(
        message(12, varintField(2, 1)),
        message(12, varintField(1, 1), varintField(2, 1)),
        varintField(13, 2),
        varintField(13, 0),
      ),
      'spans overlap',
    ],
    [
      'a bucket out of range',
      histogram(
        message(12, varintField(1, 2 ** 32 - 2), varintField(2, 1)),
        message(12, varintField(1, 2 ** 32 - 2)),
        varintField(13, 2),
      ),
      'out of range',
    ],
  ])('%s is rejected', (_, bytes, reason) => {
    expect(() => parse(bytes)).toThrow(ExpositionError);
    expect(() => parse(bytes)).toThrow(reason);
  });

  test('a schema finer than 8 is read at 8: two buckets of schema 9 make one', () => {
    const page = parse(
      histogram(
        varintField(1, 5),
        varintField(5, 18),
        message(12, varintField(1, 2), varintField(2, 2)),
        varintField(13, 4),
        varintField(13, 2),
      ),
    );
    expect(page.nativeHistograms[0]?.histogram).toMatchObject({
      schema: 8,
      positive: [{ index: 1, low: 1, high: 2 ** (1 / 256), count: 5 }],
    });
  });

  test.each<[string, Partial<ParseLimits>]>([
    ['bytes', { maxBytes: 10 }],
    ['samples', { maxSamples: 40 }],
    ['labels', { maxLabels: 1 }],
    ['a name is longer', { maxLabelNameBytes: 4 }],
    ['a label value is longer', { maxLabelValueBytes: 3 }],
  ])('the limit of %s', (what, limits) => {
    expect(() => parse(fixture('page.pb'), limits)).toThrow(what.replace('a name', 'name'));
  });
});

describe('the content type', () => {
  test.each([
    ['application/vnd.google.protobuf', null],
    ['application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited', null],
    ['Application/VND.google.protobuf;encoding="delimited";escaping=values', null],
    ['application/vnd.google.protobuf; proto=other.Message', 'other.message'],
    ['application/vnd.google.protobuf; encoding=text', 'encoding "text"'],
  ])('%s', (contentType, refused) => {
    const read = (): Exposition => parseExposition(new Uint8Array(0), contentType);
    if (refused === null) expect(read()).toMatchObject({ format: 'protobuf', families: [], nativeHistograms: [] });
    else expect(read).toThrow(refused);
  });
});
