import ts from 'typescript';

const DECLARES = /^(describe|test|it)$/;

/** The titles in the source of a test file: of its tests and groups, and the texts of the rows of `each`. */
export function testTitles(source: string): Set<string> {
  const titles = new Set<string>();
  const textOf = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) titles.add(node.text);
    ts.forEachChild(node, textOf);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && DECLARES.test(declared(node.expression))) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title)) titles.add(title.text);
      if (ts.isCallExpression(node.expression)) node.expression.arguments.forEach(textOf);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('test.ts', source, ts.ScriptTarget.Latest));
  return titles;
}

/** The function at the head of `test`, `test.skip` or `test.each(rows)`. */
function declared(called: ts.Expression): string {
  if (ts.isIdentifier(called)) return called.text;
  if (ts.isPropertyAccessExpression(called) || ts.isCallExpression(called)) return declared(called.expression);
  return '';
}
