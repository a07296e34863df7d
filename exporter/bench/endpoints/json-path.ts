import { isObject } from './json-object.ts';

/** Where a value lies in a JSON text: keys and indexes from the outside in. */
export type JsonPath = readonly (string | number)[];

/**
 * Reads a path such as `choices[0].delta.content`: keys of letters, digits, `_` and `-` joined by dots, indexes in
 * brackets. Throws an Error that names the place when it is none.
 */
export function parseJsonPath(text: string): JsonPath {
  const path: (string | number)[] = [];
  const step = /(?:^|\.)([\w-]+)|\[(\d{1,6})\]/y;
  let at = 0;
  while (at < text.length) {
    step.lastIndex = at;
    const match = step.exec(text);
    if (match === null) throw new Error(`'${text}' is no path at character ${at + 1}: an example is choices[0].text`);
    path.push(match[1] ?? Number(match[2]));
    at = step.lastIndex;
  }
  if (path.length === 0) throw new Error('the path is empty: an example is choices[0].text');
  return path;
}

/** The value at a path; undefined when there is none. */
export function valueAt(json: unknown, path: JsonPath): unknown {
  let value = json;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? (value as unknown[])[step] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}
