/** The bytes with a meaning in the formats. */
export const TAB = 9;
export const LF = 10;
export const SPACE = 32;
export const QUOTE = 34;
export const HASH = 35;
export const PLUS = 43;
export const COMMA = 44;
export const MINUS = 45;
export const DOT = 46;
export const EQUALS = 61;
export const BACKSLASH = 92;
export const BRACE_OPEN = 123;
export const BRACE_CLOSE = 125;

const NAME_START = 1;
const NAME = 2;
const LABEL_START = 4;
const LABEL = 8;

/** Classes of bytes: metric names `[a-zA-Z_:][a-zA-Z0-9_:]*`, label names `[a-zA-Z_][a-zA-Z0-9_]*`. */
const CLASSES = new Uint8Array(256);
for (let c = 0; c < 256; c++) {
  const letter = (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95;
  const digit = c >= 48 && c <= 57;
  if (letter) CLASSES[c] = NAME_START | NAME | LABEL_START | LABEL;
  else if (digit) CLASSES[c] = NAME | LABEL;
  else if (c === 58) CLASSES[c] = NAME_START | NAME;
}

/** Each takes a byte, or undefined after the end of the page (of no class). */
export function isNameStart(c: number | undefined): boolean {
  return ((CLASSES[c as number] as number) & NAME_START) !== 0;
}
export function isNamePart(c: number | undefined): boolean {
  return ((CLASSES[c as number] as number) & NAME) !== 0;
}
export function isLabelStart(c: number | undefined): boolean {
  return ((CLASSES[c as number] as number) & LABEL_START) !== 0;
}
export function isLabelPart(c: number | undefined): boolean {
  return ((CLASSES[c as number] as number) & LABEL) !== 0;
}
