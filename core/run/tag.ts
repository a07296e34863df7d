const TAG = /^[0-9A-Za-z._-]{1,64}$/;

export const TAG_RULE = "1 to 64 characters of 0–9, A–Z, a–z, '.', '_' and '-'";

export const isTag = (text: string): boolean => TAG.test(text);

const MAX_NAME = 200;

export const NAME_RULE = `a name of 1 to ${MAX_NAME} characters on one line`;

/** Whether it may name a scenario: no line breaks, and nothing that changes how the text around it is shown. */
export const isName = (text: string): boolean =>
  text.trim() !== '' && text.length <= MAX_NAME && !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text);

/** Tags with some added and some removed, sorted and each once. */
export function changedTags(
  tags: readonly string[],
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): readonly string[] {
  const removed = new Set(remove);
  return [...new Set([...tags, ...add])].filter((tag) => !removed.has(tag)).sort();
}
