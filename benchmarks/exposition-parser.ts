/**
 * CPU milliseconds per parse of a page of `/metrics` by our own parser, measured as the peers' programs do: two scrapes
 * of the same series alternate. Prints one JSON line.
 * full: every page is new; repeated: the lines are those of the scrape before, the values are not; changed: as repeated,
 * but in each scrape one line in a hundred is a series that was never seen.
 *
 * usage: node bench/exposition-parser.ts full|repeated|changed <page prefix>
 */
import { readFileSync } from 'node:fs';
import { createScrapeParser, parseText } from '../core/exposition/index.ts';
import { RenewingPage } from './renewing-page.ts';

const WARM_MS = 400;
const MEASURE_MS = 900;
const CONTENT_TYPE = 'text/plain; version=0.0.4';

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
