import type { Labels } from './family.ts';
import { escapeLabelValue } from './write-page.ts';

/** Labels as they stand between the braces of a sample, in the order given. */
export function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabelValue(value)}"`)
    .join(',');
}

/** The same sorted by name, as most clients write them. */
export function sortedLabelText(labels: Labels): string {
  return labelText(Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))));
}
