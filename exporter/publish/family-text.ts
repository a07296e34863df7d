import { familyHead, sampleLine } from './exposition-text.ts';
import type { ExpositionFormat } from './family.ts';
import type { PublishedFamily } from './server-families.ts';

/** What stands above the samples of a family. */
export type FamilyFacts = Pick<PublishedFamily, 'name' | 'help' | 'type'>;

/** The samples of one run in one family, as the lines that are kept: the same in both formats. */
export interface FamilyText extends FamilyFacts {
  readonly lines: Buffer;
  /** How many lines. */
  readonly series: number;
}

export function familyText({ name, help, type, samples }: PublishedFamily): FamilyText {
  const lines = Buffer.from(samples.map((sample) => sampleLine(name, sample)).join(''));
  return { name, help, type, lines, series: samples.length };
}

/** The head of a family in a format: OpenMetrics names a counter without `_total`, and what is untyped `unknown`. */
export function headText({ name, help, type }: FamilyFacts, format: ExpositionFormat): string {
  if (format === 'text') return familyHead(name, help, type);
  const openType = type === 'untyped' ? 'unknown' : type;
  return familyHead(type === 'counter' ? name.replace(/_total$/, '') : name, help, openType);
}
