import { isObject } from '../reading/fields.ts';
import type { SourceFile } from '../reading/source-file.ts';

/** Whether a mapping can read the file: a table with a head, or objects whose own members are numbers. */
export function isMappable({ name, head }: Pick<SourceFile, 'name' | 'head'>): boolean {
  const start = head.text.trimStart();
  if (start.startsWith('{') || start.startsWith('[')) return hasNumbers(head.firstObject ?? firstObjectIn(start));
  if (!/\.csv$/i.test(name)) return false;
  const [titles = [], row = []] = head.text.split('\n', 2).map((line) => line.trim().split(','));
  return titles.length > 1 && titles.every(isTitle) && row.length >= titles.length;
}

function isTitle(text: string): boolean {
  return /\p{L}/u.test(text);
}

/** Two are the least that a row of a benchmark has. */
function hasNumbers(object: unknown): boolean {
  return isObject(object) && Object.values(object).filter((value) => typeof value === 'number').length >= 2;
}

/** The first object of a text that may be cut after it; null when it is not whole, or no JSON. */
function firstObjectIn(text: string): unknown {
  const from = text.indexOf('{');
  for (let to = text.indexOf('}', from); from >= 0 && to >= 0; to = text.indexOf('}', to + 1)) {
    const piece = text.slice(from, to + 1);
    // A brace within a text or within a nested object ends nothing.
    if (count(piece, '{') > count(piece, '}')) continue;
    try {
      return JSON.parse(piece);
    } catch {
      return null;
    }
  }
  return null;
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}
