import { describe, expect, test } from '@jest/globals';

import { ExpositionError, type Exposition } from './exposition.ts';
import { parseExposition } from './parse.ts';
import { parseOpenMetrics } from './testing/open-metrics.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const page = (...lines: string[]): Uint8Array => encode([...lines, '# EOF', ''].join('\n'));
const histogram = (...lines: string[]): Uint8Array => page('# TYPE h histogram', ...lines);

/** Each case is one rule of the OpenMetrics 1.0 specification. */
const VALID: [rule: string, page: Uint8Array][] = [
  ['nothing but the end mark', encode('# EOF\n')],
  ['the end mark may lack its line feed', encode('a 1\n# EOF')],
  ['a sample without metadata is of type unknown', page('a 1')],
  ['NaN is a value', page('# TYPE a gauge', 'a NaN')],
  ['infinities are values', page('# TYPE a gauge', 'a{b="1"} +Inf', 'a{b="2"} -Inf')],
  ['leading zeros', page('a 0042')],
  ['a timestamp is a real number of seconds', page('# TYPE a gauge', 'a 1 1520879607.789')],
  ['a negative timestamp', page('# TYPE a gauge', 'a 1 -3.5')],
  ['more points of one metric, times ascending', page('# TYPE a gauge', 'a 1 1', 'a 2 2')],
  ['empty braces', page('# TYPE a gauge', 'a{} 1')],
  ['NUL is UTF-8', page('# TYPE a gauge', 'a{b="\0"} 1')],
  ['a counter with its start time', page('# TYPE a counter', 'a_total 1', 'a_created 1520872607.123')],
  ['the unit is the end of the name', page('# TYPE a_seconds gauge', '# UNIT a_seconds seconds', 'a_seconds 1')],
  ['an empty unit means none', page('# UNIT a ', 'a 1')],
  ['an exemplar on a total', page('# TYPE a counter', 'a_total 1 # {trace_id="x"} 0.67')],
  ['an exemplar with a time, and without labels', page('# TYPE a counter', 'a_total 1 5 # {} 0.67 3.5')],
  ['an exemplar of 128 characters, not bytes', page('# TYPE a counter', `a_total 1 # {a="${'☃'.repeat(127)}"} 1`)],
  ['a histogram without sum and count', histogram('h_bucket{le="+Inf"} 1')],
  ['a histogram with all parts', histogram('h_bucket{le="1.0"} 1', 'h_bucket{le="+Inf"} 2', 'h_count 2', 'h_sum 3')],
  ['negative bounds without a sum', histogram('h_bucket{le="-1.0"} 1', 'h_bucket{le="+Inf"} 2')],
  [
    'bounds beyond the canonical examples are not refused',
    histogram('h_bucket{le="1.1e-4"} 0', 'h_bucket{le="+Inf"} 0'),
  ],
  [
    'a gauge histogram may have a negative sum with negative bounds',
    page('# TYPE g gaugehistogram', 'g_bucket{le="-1.0"} 1', 'g_bucket{le="+Inf"} 1', 'g_gcount 1', 'g_gsum -5'),
  ],
  ['a summary', page('# TYPE s summary', 's{quantile="0.5"} NaN', 's_count 0', 's_sum 0')],
  ['an info', page('# TYPE a info', 'a_info{version="1"} 1')],
  ['a state set', page('# TYPE a stateset', 'a{a="on"} 1', 'a{a="off"} 0')],
  ['quotes, backslashes and hashes in label values', page('# TYPE a gauge', String.raw`a{b="\"\\\n # "} 1`)],
];

const INVALID: [rule: string, page: Uint8Array, line: number][] = [
  ['an empty page has no end mark', encode(''), 1],
  ['no end mark', encode('a 1\n'), 2],
  ['text behind the end mark', encode('# EOF\na 1\n'), 2],
  ['a blank line behind the end mark', encode('# EOF\n\n'), 2],
  ['a byte order mark', encode('\ufeffa 1\n# EOF\n'), 1],
  ['carriage returns', encode('a 1\r\n# EOF\r\n'), 1],
  ['a blank line', page('a 1', '', 'b 1'), 2],
  ['a comment', page('# hello', 'a 1'), 1],
  ['two spaces before the value', page('a  1'), 1],
  ['a space at the end', page('a 1 '), 1],
  ['a tab', page('a\t1'), 1],
  ['spaces in the braces', page('a{ b="1" } 1'), 1],
  ['a comma before "}"', page('a{b="1",} 1'), 1],
  ['no comma between labels', page('a{b="1"c="2"} 1'), 1],
  ['no value', page('a'), 1],
  ['a value that is no number', page('a 1x'), 1],
  ['hexadecimal', page('a 0x1p3'), 1],
  ['underscores in numbers', page('a 1_000'), 1],
  ['a number beyond a double', page('a 1e400'), 1],
  ['a timestamp that is not finite', page('a 1 NaN'), 1],
  ['a label name twice', page('a{b="1",b="2"} 1'), 1],
  ['a label name with a digit first', page('a{1b="1"} 1'), 1],
  ['a raw line feed in a label value', page('a{b="1', '"} 1'), 1],
  ['a label value without its end', page('a{b="1} 1'), 1],
  ['bytes that are not UTF-8', Uint8Array.of(...encode('a{b="'), 0xff, ...encode('"} 1\n# EOF\n')), 1],
  ['a metric name with a digit first', page('1a 1'), 1],
  ['an unknown type', page('# TYPE a meter', 'a 1'), 1],
  ['untyped is not a type here', page('# TYPE a untyped', 'a 1'), 1],
  ['HELP twice', page('# HELP a x', '# HELP a x', 'a 1'), 2],
  ['TYPE twice', page('# TYPE a gauge', '# TYPE a gauge', 'a 1'), 2],
  ['metadata behind the samples', page('# TYPE a gauge', 'a 1', '# HELP a x'), 3],
  ['a unit that is not the end of the name', page('# TYPE a gauge', '# UNIT a seconds', 'a 1'), 2],
  ['a unit on an info', page('# TYPE a_x info', '# UNIT a_x x', 'a_x_info 1'), 1],
  ['interleaved families', page('a 1', 'b 1', 'a{c="1"} 1'), 3],
  ['names that clash', page('# TYPE a counter', 'a_total 1', '# TYPE a_created gauge', 'a_created 1'), 3],
  ['interleaved metrics', page('# TYPE a gauge', 'a{b="1"} 1 1', 'a{b="2"} 1 1', 'a{b="1"} 1 2'), 4],
  ['times that go backwards', page('# TYPE a gauge', 'a 1 2', 'a 1 1'), 3],
  ['a time on some samples of a metric', page('# TYPE a counter', 'a_total 1 1', 'a_created 1'), 3],
  ['a counter without _total', page('# TYPE a counter', 'a 1'), 2],
  ['a counter that is NaN', page('# TYPE a counter', 'a_total NaN'), 2],
  ['a counter below 0', page('# TYPE a counter', 'a_total -1'), 2],
  ['an exemplar on a gauge', page('# TYPE a gauge', 'a 1 # {b="c"} 1'), 2],
  ['an exemplar of 129 characters', page('# TYPE a counter', `a_total 1 # {a="${'x'.repeat(128)}"} 1`), 2],
  ['an exemplar without a value', page('# TYPE a counter', 'a_total 1 # {a="x"}'), 2],
  ['no bucket +Inf', histogram('h_bucket{le="1.0"} 1'), 1],
  ['a bucket without le', histogram('h_bucket 1'), 2],
  ['an infinite bound in another form', histogram('h_bucket{le="inf"} 1'), 2],
  ['bounds that do not ascend', histogram('h_bucket{le="2.0"} 1', 'h_bucket{le="1.0"} 1', 'h_bucket{le="+Inf"} 1'), 3],
  ['the same bound twice', histogram('h_bucket{le="1.0"} 1', 'h_bucket{le="1"} 1', 'h_bucket{le="+Inf"} 1'), 3],
  ['buckets that are not cumulative', histogram('h_bucket{le="1.0"} 2', 'h_bucket{le="+Inf"} 1'), 3],
  ['half an observation', histogram('h_bucket{le="+Inf"} 0.5'), 2],
  ['a count that is not the last bucket', histogram('h_bucket{le="+Inf"} 1', 'h_count 2', 'h_sum 1'), 1],
  ['a count without a sum', histogram('h_bucket{le="+Inf"} 1', 'h_count 1'), 1],
  ['a sum without a count', histogram('h_bucket{le="+Inf"} 1', 'h_sum 1'), 1],
  [
    'a sum beside negative bounds',
    histogram('h_bucket{le="-1.0"} 1', 'h_bucket{le="+Inf"} 1', 'h_count 1', 'h_sum 1'),
    1,
  ],
  ['a sum that is NaN', histogram('h_bucket{le="+Inf"} 1', 'h_count 1', 'h_sum NaN'), 4],
  ['a quantile above 1', page('# TYPE s summary', 's{quantile="1.1"} 1'), 2],
  ['a quantile without its label', page('# TYPE s summary', 's 1'), 2],
  ['a negative value of a quantile', page('# TYPE s summary', 's{quantile="0.5"} -1'), 2],
  ['an info that is not 1', page('# TYPE a info', 'a_info 2'), 2],
  ['a state that is not 0 or 1', page('# TYPE a stateset', 'a{a="on"} 2'), 2],
  ['a state without the label of its family', page('# TYPE a stateset', 'a{b="on"} 1'), 2],
];

describe('OpenMetrics 1.0, strict', () => {
  test.each(VALID)('accepts: %s', (_, bytes) => {
    expect(() => parseOpenMetrics(bytes)).not.toThrow();
  });

  test.each(INVALID)('refuses: %s', (_, bytes, line) => {
    let error: unknown;
    try {
      parseOpenMetrics(bytes);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ExpositionError);
    expect(error).toHaveProperty('line', line);
  });
});

describe('accepted pages', () => {
  test('families, samples, times, exemplars', () => {
    const exposition = parseOpenMetrics(
      page(
        '# TYPE requests counter',
        '# HELP requests All \\"requests\\".',
        'requests_total{code="200"} 17 1520879607.789 # {trace_id="KOO5S4vxi0o"} 0.67 1520879600',
        'requests_created{code="200"} 1520872607.123 1520879607.789',
      ),
    );
    expect(exposition.format).toBe('openmetrics-1.0.0');
    const family = exposition.family('requests');
    expect(family).toMatchObject({ type: 'counter', help: 'All "requests".', unit: null });
    expect(family?.samples).toEqual([
      {
        name: 'requests_total',
        labels: { code: '200' },
        value: 17,
        timestampSeconds: 1520879607.789,
        exemplar: { labels: { trace_id: 'KOO5S4vxi0o' }, value: 0.67, timestampSeconds: 1520879600 },
      },
      {
        name: 'requests_created',
        labels: { code: '200' },
        value: 1520872607.123,
        timestampSeconds: 1520879607.789,
        exemplar: null,
      },
    ]);
  });

  test('points of one time: the first counts', () => {
    const { columns, duplicates } = parseOpenMetrics(page('# TYPE a gauge', 'a 1 0', 'a 2 0'));
    expect([...columns.values]).toEqual([1]);
    expect(duplicates).toEqual({ count: 1, examples: [{ line: 3, series: 'a' }] });
  });

  test('the rules of Prometheus leave semantics unchecked, and only those', () => {
    const counter = page('# TYPE a counter', 'a -1');
    const parse = (bytes: Uint8Array): Exposition => parseExposition(bytes, 'application/openmetrics-text');
    expect(parse(counter).columns.count).toBe(1);
    expect(parse(page('a{b="1",} 1')).columns.count).toBe(1);
    expect(() => parse(encode('a 1\n'))).toThrow('# EOF');
    expect(() => parse(page('# UNIT a s', 'a 1'))).toThrow('unit');
    expect(() => parse(page('a  1'))).toThrow(ExpositionError);
  });
});
