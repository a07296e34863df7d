import type { ExpositionFormat } from './family.ts';
import { headText } from './family-text.ts';
import type { FamilyText } from './family-text.ts';

/**
 * The page of these families: each name once with the lines of all runs below it, as both formats demand, in the order in
 * which the names first appear. Lines of a family whose type differs from that of the first of its name cannot be shown.
 */
export function resultPage(families: readonly FamilyText[], format: ExpositionFormat): Buffer {
  const byName = new Map<string, FamilyText[]>();
  for (const family of families) {
    const group = byName.get(family.name) ?? [];
    if (group[0] === undefined || group[0].type === family.type) group.push(family);
    byName.set(family.name, group);
  }
  const pieces = [...byName.values()].flatMap((group) => {
    const lines = group.filter(({ series }) => series > 0);
    const [first] = lines;
    return first === undefined ? [] : [Buffer.from(headText(first, format)), ...lines.map(({ lines: text }) => text)];
  });
  return Buffer.concat(format === 'openmetrics' ? [...pieces, Buffer.from('# EOF\n')] : pieces);
}
