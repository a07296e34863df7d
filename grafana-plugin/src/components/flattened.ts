import { ABSENT } from '../../../core/text/quantities.ts';

/** The leaves of a JSON value with their paths: `load.concurrency` → `12`. What is null is not known or not used: `–`. */
export function flattened(value: unknown, path = ''): Array<[path: string, text: string]> {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, member]) => flattened(member, path === '' ? name : `${path}.${name}`));
  }
  return [[path, value === null ? ABSENT : typeof value === 'string' ? value : JSON.stringify(value)]];
}
