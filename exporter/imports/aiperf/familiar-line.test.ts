import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ImportNotes } from '../import-notes.ts';
import { JsonTextError, parseJson } from '../reading/json-text.ts';
import { FamiliarLines, READ_METRICS } from './familiar-line.ts';
import { captureText } from '../../../fixtures/captures.ts';
import { hashOf } from './line-scanner.ts';
import { recordOfLine } from './records.ts';

const ZERO = 1_795_279_610_000_000_000n;
const ORIGIN = { zero_ns: ZERO, usage: { input: true, output: true } };

/** AIPerf's own lines without the metrics of the HTTP trace, as it writes them without `--export-http-trace`. */
const LINES = captureText('dynamo/a-steady-c8/aiperf/profile_export.jsonl.gz')
  .trimEnd()
  .split('\n')
  .slice(0, 40)
  .map((line) => line.replace(/"http_req_\w+":\{[^}]*\},?/g, '').replace(/,\}/g, '}'));

/** What the line is from its bytes, read first or after another one, whose form the reader then knows. */
function quick(line: string, ...earlier: readonly string[]): unknown {
  const lines = new FamiliarLines(ORIGIN);
  const read = (text: string): unknown => {
    const bytes = new TextEncoder().encode(`before${text}after`);
    return lines.record(bytes, 6, bytes.length - 5, 7);
  };
  earlier.forEach(read);
  return read(line);
}

/** What the line is as JSON; null when it is none, or no record. */
function slow(line: string): unknown {
  try {
    const { value } = parseJson(line);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? recordOfLine(value as Record<string, unknown>, line, 7, ORIGIN, new ImportNotes(), '') : null;
  } catch (error) {
    if (error instanceof JsonTextError) return null;
    throw error;
  }
}

test('AIPerf’s own lines are read from their bytes, with the same result as from JSON', () => {
  for (const line of LINES) {
    expect(quick(line)).not.toBeNull();
    expect(quick(line)).toEqual(slow(line));
    // As Python's json writes them by default, with spaces.
    const spaced = line.replace(/([:,])(?=["{[\d-]|true|false|null)/g, '$1 ');
    expect(quick(spaced)).not.toBeNull();
    expect(quick(spaced)).toEqual(slow(line));
    for (const [earlier = '', again = ''] of [
      [LINES[0], line],
      [LINES[0], spaced],
      [line, line],
      [spaced, line],
    ]) {
      expect(quick(again, earlier)).toEqual(slow(line));
    }
  }
});

test('one reader reads all lines of a file, also when their keys change', () => {
  const lines = new FamiliarLines(ORIGIN);
  const text = LINES.map((line, i) =>
    i % 7 < 4 ? line : line.replace(/"(usage_prompt_tokens|inter_chunk_latency)":\{[^}]*\},/, ''),
  );
  const bytes = new TextEncoder().encode(`${text.join('\n')}\n`);
  let from = 0;
  for (const line of text) {
    const to = bytes.indexOf(0x0a, from);
    expect(lines.record(bytes, from, to, 7)).toEqual(slow(line));
    from = to + 1;
  }
});

test.each([
  ['a trace', LINES[0]?.replace('"metrics":{', '"metrics":{"http_req_waiting":{"value":1,"unit":"ms"},')],
  ['an error', LINES[0]?.replace(/\}$/, ',"error":{"code":500}}')],
  ['a canceled request', LINES[0]?.replace('"was_cancelled":false', '"was_cancelled":true')],
  ['escapes', LINES[0]?.replace('"worker_id":"', '"worker_id":"\\"')],
  ['another unit', LINES[0]?.replaceAll('"unit":"ms"', '"unit":"ns"')],
  ['NaN', LINES[0]?.replace(/("time_to_first_token":\{"value":)[\d.]+/, '$1NaN')],
  ['a null', LINES[0]?.replace(/("time_to_first_token":\{"value":)[\d.]+/, '$1null')],
  ['a number as text', LINES[0]?.replace(/("usage_prompt_tokens":\{"value":)(\d+)/, '$1"$2"')],
  ['a torn line', LINES[0]?.slice(0, 700)],
  ['nothing', ''],
])('%s is left to be read as JSON', (_name, line) => {
  expect(line).not.toBe(LINES[0]);
  expect(quick(line ?? '')).toBeNull();
  expect(quick(line ?? '', LINES[0] ?? '')).toBeNull();
});

test('property: whatever becomes of a line, what is read from its bytes is what it is as JSON', () => {
  const change = fc.record({
    line: fc.nat(LINES.length - 1),
    at: fc.nat(3000),
    cut: fc.nat(3),
    put: fc.constantFrom(
      '',
      '0',
      '9',
      '.',
      '-',
      'e',
      '"',
      ',',
      '{',
      '}',
      '[',
      ']',
      ':',
      ' ',
      'null',
      '1e3',
      '5e-05',
      '\\',
    ),
  });
  fc.assert(
    fc.property(change, ({ line, at, cut, put }) => {
      const text = LINES[line] ?? '';
      const changed = text.slice(0, at) + put + text.slice(at + cut);
      const expected = slow(changed);
      for (const read of [quick(changed), quick(changed, text)]) if (read !== null) expect(read).toEqual(expected);
      expect(quick(text, changed)).toEqual(slow(text));
    }),
    { numRuns: 3000 },
  );
});

test('property: milliseconds of any form become the nanoseconds that they are', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true })), (gaps) => {
      const line = (LINES[0] ?? '').replace(
        /("inter_chunk_latency":\{"value":)\[[^\]]*\]/,
        `$1${JSON.stringify(gaps)}`,
      );
      expect(quick(line)).toEqual(slow(line));
    }),
  );
});

test('the names that are looked for have different hashes', () => {
  expect(new Set(READ_METRICS.map(hashOf)).size).toBe(READ_METRICS.length);
});
