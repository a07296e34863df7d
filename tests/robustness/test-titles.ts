import ts from 'typescript';

/** The titles in the source of a test file: of its tests and groups, and the texts of the rows of `each`. */
export function testTitles(source: string): Set<string> {
  const titles = new Set<string>();
  const addTexts = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) titles.add(node.text);
    ts.forEachChild(node, addTexts);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [title, body] = node.arguments;
      // Whatever declares it: `test`, `describe.each(…)`, `(condition ? test : test.skip)`.
      if (title !== undefined && ts.isStringLiteralLike(title) && body !== undefined && ts.isFunctionLike(body)) {
        titles.add(title.text);
        if (ts.isCallExpression(node.expression)) node.expression.arguments.forEach(addTexts);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('test.ts', source, ts.ScriptTarget.Latest));
  return titles;
}
