/** Control characters and line breaks, shown escaped as in JSON. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Makes text from a file (model and scenario names, …) safe for one terminal line. */
export function plainText(text: string): string {
  return text.replaceAll(CONTROL, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** Truncates to a width, marked with an ellipsis. */
export function cutTo(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
