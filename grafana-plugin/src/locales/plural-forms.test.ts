import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import texts from './en-US/llmbench-observability-app.json';

/** `i18next-cli extract` adds and removes plural forms, but does not notice that their text is outdated. */
const SOURCE = join(__dirname, '..');

interface Plural {
  key: string;
  one: string;
  other: string;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path)
);

/** The default text of each `t(key, text, …)`. */
const defaults = new Map(files.flatMap((path) => textsOf(join(SOURCE, path))));

function textsOf(path: string): Array<[key: string, text: string]> {
  const found: Array<[string, string]> = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 't') {
      const [key, text] = node.arguments;
      if (key && text && ts.isStringLiteralLike(key) && ts.isStringLiteralLike(text)) {
        found.push([key.text, text.text]);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX));
  return found;
}

function pluralsOf(node: object, path: readonly string[] = []): Plural[] {
  const members = new Map<string, unknown>(Object.entries(node));
  return [...members].flatMap(([name, value]): Plural[] => {
    if (typeof value === 'object' && value !== null) {
      return pluralsOf(value, [...path, name]);
    }
    const base = /^(.*)_other$/.exec(name)?.[1];
    return base === undefined
      ? []
      : [{ key: [...path, base].join('.'), one: String(members.get(`${base}_one`)), other: String(value) }];
  });
}

const plurals = pluralsOf(texts);

test('there are plural forms', () => {
  expect(plurals.length).toBeGreaterThan(10);
});

test('the plural of a text is what the source has', () => {
  expect(plurals.map(({ key, other }) => [key, other])).toEqual(plurals.map(({ key }) => [key, defaults.get(key)]));
});

test('the singular has the placeholders of the plural', () => {
  const placeholders = (text: string) => [...(text.match(/\{\{\w+\}\}/g) ?? [])].sort();
  expect(plurals.map(({ one }) => placeholders(one))).toEqual(plurals.map(({ other }) => placeholders(other)));
});

test('no singular counts a plural, as in "1 runs"', () => {
  expect(plurals.filter(({ one }) => /\{\{count\}\} \w+s\b/.test(one)).map(({ key }) => key)).toEqual([]);
});
