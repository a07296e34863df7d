import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { Exposition } from './exposition.ts';
import { parseExposition } from './parse.ts';
import { createScrapeParser } from './scrape-parser.ts';
import type { ScrapeParser } from './scrape-parser.ts';

const TEXT = 'text/plain; version=0.0.4';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Everything that an exposition says, as plain data in a comparable order, independent of ids. */
function pageView(exposition: Exposition): unknown {
  return {
    format: exposition.format,
    formatFallback: exposition.formatFallback,
    missingFinalNewline: exposition.missingFinalNewline,
    repeatedMetadata: exposition.repeatedMetadata,
    duplicates: exposition.duplicates,
    families: exposition.families.map(({ name, type, help, unit, samples }) => ({
      name,
      type,
      help,
      unit,
      samples: samples.map((sample) => ({ ...sample, labels: Object.entries(sample.labels).sort() })),
    })),
  };
}

function outcome(parse: () => Exposition): unknown {
  try {
    return pageView(parse());
  } catch (error) {
    return String(error);
  }
}

function expectSame(parser: ScrapeParser, text: string, contentType = TEXT): void {
  const bytes = encode(text);
  expect(outcome(() => parser.parse(bytes, contentType))).toEqual(outcome(() => parseExposition(bytes, contentType)));
}

const PAGE = [
  '# HELP h A histogram',
  '# TYPE h histogram',
  'h_bucket{m="a",le="1"} #',
  'h_bucket{m="a",le="+Inf"} #',
  'h_sum{m="a"} #',
  'h_count{m="a"} #',
  '',
  '# TYPE g gauge',
  'g{le="x"} #',
  'g{ le = "y" } #',
  'g{q="raw\nfeed"} #',
  '# TYPE c counter',
  'c #',
  'c{d="e"} # 17',
  '# TYPE last gauge',
];
const withValues = (lines: readonly string[], value: (i: number) => string): string =>
  lines.map((line, i) => line.replace('#', (hash) => (line.startsWith('#') ? hash : value(i)))).join('\n') + '\n';

describe('createScrapeParser', () => {
  test('gives what a full parse gives, whatever happens to the lines between scrapes', () => {
    const edit = fc.record({
      keep: fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
      value: fc.infiniteStream(
        fc.constantFrom('0', '1.5', '1.7952804839517844e+09', 'NaN', '+Inf', '12 99', '3 ', 'x'),
      ),
      cut: fc.integer({ min: 0, max: 30 }),
      disorder: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 6 }), (edits) => {
        const parser = createScrapeParser();
        for (const { keep, value, cut, disorder } of edits) {
          const lines = PAGE.flatMap((line) => {
            const choice = keep.next().value as number;
            return choice === 0
              ? []
              : choice === 1
                ? [line, line]
                : choice === 2
                  ? [line, `new${choice}{m="z"} #`]
                  : [line];
          });
          if (disorder) lines.reverse();
          const page = withValues(lines, () => value.next().value as string);
          expectSame(parser, cut < 3 ? page.slice(0, -1 - cut) : page);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('the same lines with other values', () => {
    const parser = createScrapeParser();
    for (let scrape = 0; scrape < 4; scrape++)
      expectSame(
        parser,
        withValues(PAGE, (i) => String(scrape * 100 + i)),
      );
  });

  test('scrapes of the same lines share their layout', () => {
    const parser = createScrapeParser();
    const first = parser.parse(encode('a{b="c"} 1\n# TYPE x gauge\nx 1\n'), TEXT);
    const second = parser.parse(encode('a{b="c"} 2\n# TYPE x gauge\nx 33\n'), TEXT);
    expect(second.columns.nameIds).toBe(first.columns.nameIds);
    expect([...first.columns.values]).toEqual([1, 1]);
    expect([...second.columns.values]).toEqual([2, 33]);
  });

  test('lines that come, go and change their order', () => {
    const parser = createScrapeParser();
    const series = Array.from({ length: 50 }, (_, i) => `s${i % 7}{n="${i}"} #`);
    const value = (i: number): string => String(i);
    expectSame(parser, withValues(series, value));
    expectSame(
      parser,
      withValues(['first #', ...series.slice(0, 20), 'middle{x="y"} #', ...series.slice(30), 'last #'], value),
    );
    expectSame(parser, withValues([...series].reverse(), value));
    expectSame(parser, '');
    expectSame(parser, withValues(series, value));
  });

  test('a faulty page leaves nothing behind', () => {
    const parser = createScrapeParser();
    expectSame(parser, 'a 1\nb 2\n');
    expectSame(parser, 'a 1\nb two\n');
    expectSame(parser, 'a 1\nb{c="\n');
    expectSame(parser, 'a 3\nb 4\n');
  });

  test('a target that changes its format', () => {
    const parser = createScrapeParser();
    expectSame(parser, 'a 1\n# EOF\n');
    expectSame(parser, 'a 1\n# EOF\n', OPENMETRICS);
    expectSame(parser, 'a 2\n# EOF\n', OPENMETRICS);
    expectSame(parser, 'a 2\n', OPENMETRICS);
    expectSame(parser, 'a 2 # {b="c"} 1\n# EOF\n', OPENMETRICS);
    expectSame(parser, 'a 2\n');
    expectSame(parser, 'a 2\n', 'text/html');
  });

  test('limits hold for known lines too', () => {
    const parser = createScrapeParser({ limits: { maxSamples: 2 } });
    expect(parser.parse(encode('a 1\nb 1\n'), TEXT).columns.count).toBe(2);
    expect(() => parser.parse(encode('a 1\nb 1\nc 1\n'), TEXT)).toThrow('more than 2 samples');
  });

  test('label values that never return are forgotten', () => {
    const parser = createScrapeParser();
    let entries = 0;
    for (let scrape = 0; scrape < 300; scrape++) {
      const page = Array.from({ length: 100 }, (_, i) => `a{id="${scrape}-${i}"} 1`).join('\n') + '\n';
      entries = Math.max(entries, parser.parse(encode(page), TEXT).columns.labelSets.length);
    }
    expect(entries).toBeLessThan(12_000);
  });

  test.each<[string, Uint8Array]>([
    ['a Uint8Array', encode('a{b="c"} 1\n')],
    ['a Buffer', Buffer.from('a{b="c"} 1\n')],
  ])('%s that its owner overwrites', (_, bytes) => {
    const parser = createScrapeParser();
    const first = parser.parse(bytes, TEXT);
    bytes.fill(0);
    expectSame(parser, 'a{b="c"} 1\n');
    expectSame(parser, 'a{b="c"} 2\n');
    expect(first.families[0]?.samples).toMatchObject([{ name: 'a', labels: { b: 'c' }, value: 1 }]);
  });
});

describe('recorded scrapes', () => {
  describe.each(['lmcache', 'sglang', 'sglang-router', 'smg', 'triton', 'trtllm', 'vllm'])('%s', (system) => {
    const file = new URL(`../../../shared/fixtures/${system}/series.txt.gz`, import.meta.url);
    const run = existsSync(file) ? test : test.skip;
    run('each scrape as a full parse', () => {
      const pages = gunzipSync(readFileSync(file))
        .toString()
        .split(/^# scrape .*\n/m)
        .slice(1, 8);
      const parser = createScrapeParser();
      for (const page of pages) expectSame(parser, page);
      expect(pages.length).toBeGreaterThan(1);
    });
  });
});
