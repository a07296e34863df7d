import { expect, test } from '@jest/globals';

import { classicHistograms, parseText } from '../core/exposition/index.ts';
import { captureBytes } from '../fixtures/captures.ts';
import { loadCatalog, labelsOf } from './load.ts';
import { FamilyIndex } from './lookup.ts';

/** Labels of a sample that are none of its family. */
const SAMPLE_LABELS = ['le', 'quantile'];

/** Pages of the newest releases that could be run, with the systems that are on them. */
test.each([
  ['vllm/0.33.0.txt.gz', ['vllm']],
  ['dynamo/1.6.1/frontend.txt.gz', ['dynamo', 'dynamo-router']],
  ['dynamo/1.6.1/frontend-after-crash.txt.gz', ['dynamo', 'dynamo-router']],
  ['dynamo/1.6.1/disaggregated-frontend.txt.gz', ['dynamo', 'dynamo-router']],
  ['dynamo/1.6.1/worker.txt.gz', ['dynamo', 'dynamo-router', 'vllm']],
  ['dynamo/1.6.1/router.txt.gz', ['dynamo', 'dynamo-router']],
  ['dynamo/1.6.1/indexer.txt.gz', ['dynamo-router']],
  ['nixl/1.5.1.txt.gz', ['nixl']],
])('%s: every family is known, with its type, labels and bounds', (capture, systems) => {
  const index = new FamilyIndex(systems.map(loadCatalog));
  const page = parseText(captureBytes(capture));
  const faults = page.families.flatMap((family) => {
    if (family.name.endsWith('_created')) return [];
    const [match] = index.find(family.name);
    if (match === undefined) return [`${family.name}: not in a catalog`];
    const { catalog, family: known } = match;
    const types = [known.type, ...(known.other_types ?? []).map(({ type }) => type)];
    const labels = [...labelsOf(catalog, known), ...(known.optional_labels ?? []), ...SAMPLE_LABELS];
    const found = new Set(family.samples.flatMap((sample) => Object.keys(sample.labels)));
    const bounds = new Set(
      classicHistograms(page, family).map(({ bounds: all }) => rounded(all.filter(Number.isFinite))),
    );
    const expected = Array.isArray(known.buckets) ? rounded(known.buckets as number[]) : null;
    return [
      ...(types.includes(family.type as (typeof types)[number]) ? [] : [`${family.name}: ${family.type}`]),
      ...[...found].filter((label) => !labels.includes(label)).map((label) => `${family.name}: label ${label}`),
      ...[...bounds].filter((each) => expected !== null && each !== expected).map((each) => `${family.name}: ${each}`),
    ];
  });
  expect(faults).toEqual([]);
});

/** Servers multiply their bounds up: 0.15000000000000002. */
function rounded(bounds: readonly number[]): string {
  return JSON.stringify(bounds.map((bound) => Number(bound.toPrecision(7))));
}
