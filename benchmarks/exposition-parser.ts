/**
 * CPU milliseconds per parse of a page of `/metrics` by our own parser, measured as the peers' programs do: two scrapes
 * of the same series alternate. Prints one JSON line.
 * full: every page is new; repeated: the lines are those of the scrape before, the values are not; changed: as repeated,
 * but in each scrape one line in a hundred is a series that was never seen.
 *
 * usage: node benchmarks/exposition-parser.ts full|repeated|changed <page prefix>
 */
import { readFileSync } from 'node:fs';
import { createScrapeParser, parseText } from '../core/exposition/index.ts';

const WARM_MS = 400;
const MEASURE_MS = 900;
const CONTENT_TYPE = 'text/plain; version=0.0.4';

const NEW_LINE_EVERY = 100;
const DIGITS = 8;

/** A page in which one sample in a hundred carries a label whose value is written anew, in place, for each scrape. */
class RenewingPage {
  readonly #bytes: Buffer;
  readonly #positions: number[] = [];

  constructor(page: Buffer) {
    const label = `{renewed="${'0'.repeat(DIGITS)}",`;
    const lines = page.toString('latin1').split('\n');
    let position = 0;
    let samples = 0;
    const changed = lines.map((line) => {
      const brace = line.startsWith('#') ? -1 : line.indexOf('{');
      const chosen = brace >= 0 && samples++ % NEW_LINE_EVERY === 0;
      const text = chosen ? line.slice(0, brace) + label + line.slice(brace + 1) : line;
      if (chosen) this.#positions.push(position + brace + label.indexOf('0'));
      position += text.length + 1;
      return text;
    });
    this.#bytes = Buffer.from(changed.join('\n'), 'latin1');
  }

  /** The page of a generation; it is the same memory each time. */
  next(generation: number): Uint8Array {
    const digits = String(generation).padStart(DIGITS, '0');
    for (const position of this.#positions) this.#bytes.write(digits, position, 'latin1');
    return this.#bytes;
  }
}

const [kind = '', prefix = ''] = process.argv.slice(2);
const pages = [1, 2].map((k) => readFileSync(`${prefix}.${k}.txt`));
const parse = parserOf(kind);
repeat(WARM_MS);
const before = process.cpuUsage();
const { parses, samples } = repeat(MEASURE_MS);
const { user, system } = process.cpuUsage(before);
const cpu_ms = (user + system) / 1000 / parses;
console.log(JSON.stringify({ name: `llmbench ${kind}`, page: prefix.split('/').pop(), cpu_ms, n: samples }));

function repeat(milliseconds: number): { parses: number; samples: number } {
  const end = performance.now() + milliseconds;
  let parses = 0;
  let samples = 0;
  while (performance.now() < end || parses < 4) samples = parse(parses++);
  return { parses, samples };
}

/** Parses the k-th scrape and gives its number of samples. */
function parserOf(name: string): (k: number) => number {
  if (name === 'full') return (k) => parseText(pageOf(pages, k)).columns.count;
  const parser = createScrapeParser();
  const read = (page: Uint8Array): number => parser.parse(page, CONTENT_TYPE).columns.count;
  if (name === 'repeated') return (k) => read(pageOf(pages, k));
  const renewing = pages.map((page) => new RenewingPage(page));
  let generation = 0;
  return (k) => read(pageOf(renewing, k).next(++generation));
}

function pageOf<T>(list: readonly T[], k: number): T {
  const page = list[k % list.length];
  if (page === undefined) throw new Error('usage: exposition-parser.ts full|repeated|changed <page prefix>');
  return page;
}
