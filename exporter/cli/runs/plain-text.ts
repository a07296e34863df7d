/** What a terminal would act on, or what would break the line: shown as in JSON. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Text of a file (names of models, scenarios, …) made fit for one line of a terminal. */
export function plainText(text: string): string {
  return text.replaceAll(CONTROL, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** Cut to a width, with a mark where something is missing. */
export function cutTo(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
