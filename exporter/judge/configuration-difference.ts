/** Names that one sentence has; further ones are counted. */
const MAX_NAMED = 5;
/** Longer values, such as hashes, say nothing to a reader. */
const MAX_VALUE = 24;
const NONE = 'none';

/** What differs between configurations, for a sentence: `load.concurrency (8, 32)`. Empty when nothing that is known does. */
export function configurationDifference(configurations: readonly object[]): string {
  const leaves = configurations.map((configuration) => new Map(leavesOf(configuration, '')));
  const names = [...new Set(leaves.flatMap((each) => [...each.keys()]))];
  const different = names.flatMap((name) => {
    const values = [...new Set(leaves.map((each) => each.get(name) ?? NONE))];
    if (values.length === 1) return [];
    const isShort = values.every((value) => value.length <= MAX_VALUE);
    return [isShort ? `${name} (${values.join(', ')})` : name];
  });
  const more = different.length - MAX_NAMED;
  return [...different.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Each value that is not an object, as JSON, by its path. */
function leavesOf(value: unknown, path: string): readonly (readonly [path: string, json: string])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [[path, value === null ? NONE : JSON.stringify(value)]];
  }
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, path === '' ? name : `${path}.${name}`));
}
