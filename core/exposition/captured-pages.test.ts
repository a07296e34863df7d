import { describe, expect, test } from '@jest/globals';

import { captureBytes } from '../../fixtures/captures.ts';
import { parseExposition } from './parse.ts';

const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';

/** Pages of real servers. */
const PAGES: [name: string, contentType: string][] = [
  ...['lmcache', 'sglang', 'sglang-router', 'smg', 'triton', 'trtllm', 'vllm'].flatMap((system) =>
    ['idle.txt', 'loaded.txt'].map((file): [string, string] => [`${system}/${file}`, 'text/plain']),
  ),
  ['trtllm/loaded.openmetrics.txt', OPENMETRICS],
];

describe.each(PAGES)('%s', (name, contentType) => {
  test('every line is present', () => {
    const bytes = new Uint8Array(captureBytes(name));
    const page = parseExposition(bytes, contentType);
    // An independent count: these pages have no blanks at line ends and no line feeds in labels.
    const lines = new TextDecoder().decode(bytes).split('\n');
    const sampleLines = lines.filter((line) => line !== '' && !line.startsWith('#'));
    const typed = lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' '));

    expect(page.duplicates.count).toBe(0);
    expect(page.missingFinalNewline).toBe(false);
    expect(page.columns.count).toBe(sampleLines.length);
    expect(page.families.reduce((sum, { rows }) => sum + rows.length, 0)).toBe(sampleLines.length);
    for (const [, , family, type] of typed) expect(page.family(family ?? '')?.type).toBe(type);
    expect(page.families.filter(({ type }) => type !== 'unknown')).toHaveLength(
      new Set(typed.map(([, , n]) => n)).size,
    );

    const { names, nameIds, values } = page.columns;
    expect(Array.from(nameIds, (id) => names[id])).toEqual(sampleLines.map((line) => /^[^{ ]*/.exec(line)?.[0]));
    expect(Array.from(values)).toEqual(
      sampleLines.map((line) => Number(line.slice(line.lastIndexOf(' ') + 1).replace('+Inf', 'Infinity'))),
    );
  });
});
