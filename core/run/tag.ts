const TAG = /^[0-9A-Za-z._-]{1,64}$/;

export const TAG_RULE = "1 to 64 characters of 0–9, A–Z, a–z, '.', '_' and '-'";

export const isTag = (text: string): boolean => TAG.test(text);

/** Tags with some added and some removed, sorted and each once. */
export function changedTags(
  tags: readonly string[],
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): readonly string[] {
  const removed = new Set(remove);
  return [...new Set([...tags, ...add])].filter((tag) => !removed.has(tag)).sort();
}
