import { createHash } from 'node:crypto';

/** The hash of a plan: of its JSON with sorted keys, so that it does not depend on how the plan was written. */
export function planSha256(plan: Readonly<Record<string, string | number | null>>): string {
  const sorted = Object.fromEntries(Object.entries(plan).sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}
