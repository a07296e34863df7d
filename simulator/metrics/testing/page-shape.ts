import { parseText } from '../../../core/exposition/index.ts';

/** What can be compared of two pages whose numbers differ. */
export interface FamilyShape {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** Names of the samples with the names of their labels, each once, in alphabetical order. */
  readonly samples: readonly string[];
  /** The texts of the `le` labels of its buckets, each once, in the order of the page. */
  readonly bounds: readonly string[];
}

/** The families of a page, in its order. */
export function pageShape(page: string): FamilyShape[] {
  return parseText(new TextEncoder().encode(page)).families.map(({ name, type, help, samples }) => ({
    name,
    type,
    help: help ?? '',
    samples: [
      ...new Set(samples.map((sample) => `${sample.name} ${Object.keys(sample.labels).sort().join(' ')}`)),
    ].sort(),
    bounds: [
      ...new Set(samples.flatMap((sample) => (sample.name.endsWith('_bucket') ? [sample.labels['le'] ?? ''] : []))),
    ],
  }));
}
