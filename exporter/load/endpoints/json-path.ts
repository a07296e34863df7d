import { isObject } from './json-object.ts';

/** The location of a value in JSON: keys and indexes from the outside in. */
export type JsonPath = readonly (string | number)[];

/**
 * Reads a path such as `choices[0].delta.content`: keys of letters, digits, `_` and `-` joined by dots, indexes in
 * brackets. Throws an Error with the position of the first invalid character.
 */
export function parseJsonPath(text: string): JsonPath {
  const path: (string | number)[] = [];
  const step = /(?:^|\.)([\w-]+)|\[(\d{1,6})\]/y;
  let at = 0;
  while (at < text.length) {
    step.lastIndex = at;
    const match = step.exec(text);
    if (match === null)
      throw new Error(`'${text}' is not a valid path at character ${at + 1}; example: choices[0].text`);
    path.push(match[1] ?? Number(match[2]));
    at = step.lastIndex;
  }
  if (path.length === 0) throw new Error('the path is empty; example: choices[0].text');
  return path;
}

/** The value at a path; undefined when it is missing. */
export function valueAt(json: unknown, path: JsonPath): unknown {
  let value = json;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? (value as unknown[])[step] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}
