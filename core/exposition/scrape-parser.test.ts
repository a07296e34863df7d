import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { recordedPages } from '../../fixtures/captures.ts';
import type { Exposition } from './exposition.ts';
import { parseExposition, createScrapeParser, type ScrapeParser } from './parse.ts';

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

  test('lines that are replaced, inserted, dropped, moved, repeated or timed, one or a few at a time', () => {
    const families = ['a', 'b', 'c'].flatMap((name) => [
      `# HELP ${name} Of ${name}`,
      `# TYPE ${name} histogram`,
      ...['x', 'y'].flatMap((m) => [
        ...['1', '2', '+Inf'].map((le) => `${name}_bucket{m="${m}",le="${le}"} #`),
        `${name}_sum{m="${m}"} #`,
        `${name}_count{m="${m}"} #`,
      ]),
      '',
    ]);
    const change = fc.record({
      kind: fc.constantFrom('replace', 'insert', 'comment', 'drop', 'move', 'repeat', 'time', 'restore', 'tail'),
      at: fc.nat(),
      to: fc.nat(),
      name: fc.constantFrom('p', 'q', 'a_count', 'c_bucket'),
      values: fc.array(fc.constantFrom('1', '0.25', '12345.678901234567', '7e-5', '+Inf'), { minLength: 1 }),
    });
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 4 }), { minLength: 2, maxLength: 12 }), (scrapes) => {
        const parser = createScrapeParser();
        let lines = families;
        const seen: [Exposition, unknown][] = [];
        for (const changes of scrapes) {
          let values = ['1'];
          for (const { kind, at, to, name, ...rest } of changes) {
            values = rest.values;
            lines = [...lines];
            const i = at % lines.length;
            const line = lines[i] ?? '';
            if (kind === 'replace') lines[i] = `${name}{m="${to % 40}",le="1"} #`;
            else if (kind === 'insert') lines.splice(i, 0, `${name}{m="${to % 40}"} #`);
            else if (kind === 'comment') lines.splice(i, 0, ['# a word', '', '# TYPE p counter'][to % 3] ?? '');
            else if (kind === 'drop' && lines.length > 3) lines.splice(i, 1 + (to % 3));
            else if (kind === 'move') lines.splice(to % lines.length, 0, ...lines.splice(i, 1));
            else if (kind === 'repeat') lines.splice(to % lines.length, 0, line);
            else if (kind === 'time' && line.endsWith('#')) lines[i] = `${line} ${to % 5}`;
            else if (kind === 'restore') lines = families;
            else if (kind === 'tail') lines.push(['# TYPE last gauge', '# HELP last Word', ''][to % 3] ?? '');
          }
          const page = withValues(lines, (i) => values[i % values.length] ?? '1');
          expectSame(parser, page);
          const again = parser.parse(encode(page), TEXT);
          seen.push([again, pageView(again)]);
        }
        // What was given out before is as it was.
        for (const [exposition, view] of seen) expect(pageView(exposition)).toEqual(view);
      }),
      { numRuns: 300 },
    );
  });

  test('new series in place, longer and shorter ones, for so long that what is kept of old ones is moved', () => {
    const parser = createScrapeParser();
    const idOf = (scrape: number): string => `${'x'.repeat(scrape % 7)}${scrape}`;
    const all: Exposition[] = [];
    for (let scrape = 0; scrape < 200; scrape++) {
      const page =
        Array.from({ length: 60 }, (_, i) =>
          i % 10 === 3 ? `s{id="${idOf(scrape)}",n="${i}"} ${scrape}` : `s{id="old",n="${i}"} ${scrape + i}`,
        ).join('\n') + (scrape % 50 === 49 ? `\n# TYPE s${scrape} gauge\n` : '\n');
      expectSame(parser, page);
      all.push(parser.parse(encode(page), TEXT));
    }
    const ids = (scrape: number): unknown[] =>
      (all[scrape]?.families[0]?.samples ?? [])
        .filter(({ labels }) => labels['id'] !== 'old')
        .map((s) => s.labels['id']);
    for (const scrape of [0, 73, 199]) expect(ids(scrape)).toEqual(new Array(6).fill(idOf(scrape)));
  });

  test.each([
    ['lines at the end go', 'a 1\n# TYPE z gauge\n', 'a 2\n'],
    ['lines at the end come', 'a 1\n', 'a 2\n# TYPE z gauge\n'],
    ['lines at the end change', 'a 1\n# TYPE z gauge\n', 'a 2\n# TYPE z counter\n'],
    ['a comment comes before all', '# TYPE a gauge\na 1\n', '# new\n# TYPE a gauge\na 2\n'],
    ['a type comes', 'a 1\nb 1\n', 'a 2\n# TYPE b counter\nb 2\n'],
    ['a type goes', 'a 1\n# TYPE b counter\nb 1\n', 'a 2\nb 2\n'],
    ['all rows go', 'a 1\nb 1\n# TYPE z gauge\n', '# TYPE z gauge\n'],
    ['a series is repeated', 'a 1\nb 1\nc 1\n', 'a 2\nb 2\na 3\n'],
    ['a series gets a time', 'a 1\nb 1\n', 'a 2 17\nb 2\n'],
    ['two are exchanged', 'a 1\nb 1\nc 1\nd 1\n', 'a 2\nc 2\nb 2\nd 2\n'],
    ['several are replaced', 'a 1\nb 1\nc 1\nd 1\n', 'a 2\nx 2\ny 2\nd 2\n'],
    ['the last line feed is missing', 'a 1\nb 1\n', 'a 2\nb 2'],
  ])('%s, and come back', (_, first, second) => {
    const parser = createScrapeParser();
    for (const page of [first, first, second, second, first, second]) expectSame(parser, page);
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

  test('an invalid page has no lasting effect', () => {
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
    expect(() => parser.parse(encode('a 1\nb 1\nc 1\n'), TEXT)).toThrow('line 3, column 1: more than 2 samples');
    expect(() => parser.parse(encode('c 1\na 1\nb 1\n'), TEXT)).toThrow('line 3, column 1: more than 2 samples');
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
    test('each scrape as a full parse', () => {
      const pages = recordedPages(`${system}/series.txt.br`)
        .flatMap(({ text }) => text ?? [])
        .slice(0, 7);
      const parser = createScrapeParser();
      for (const page of pages) expectSame(parser, page);
      expect(pages.length).toBeGreaterThan(1);
    });
  });
});
