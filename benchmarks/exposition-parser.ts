/**
 * CPU milliseconds per parse of a page of `/metrics` by our own parser, measured as the peers' programs do: two scrapes
 * of the same series alternate. Prints one JSON line.
 *
 * usage: node benchmarks/exposition-parser.ts <page prefix>
 */
import { readFileSync } from 'node:fs';
import { parseText } from '../core/exposition/index.ts';

const WARM_MS = 400;
const MEASURE_MS = 900;

const [prefix = ''] = process.argv.slice(2);
const pages = [1, 2].map((k) => readFileSync(`${prefix}.${k}.txt`));
repeat(WARM_MS);
const before = process.cpuUsage();
const { parses, samples } = repeat(MEASURE_MS);
const { user, system } = process.cpuUsage(before);
const cpu_ms = (user + system) / 1000 / parses;
console.log(JSON.stringify({ name: 'llmbench', page: prefix.split('/').pop(), cpu_ms, n: samples }));

function repeat(milliseconds: number): { parses: number; samples: number } {
  const end = performance.now() + milliseconds;
  let parses = 0;
  let samples = 0;
  while (performance.now() < end || parses < 4) {
    for (const page of pages) samples = parseText(page).columns.count;
    parses += pages.length;
  }
  return { parses, samples };
}
