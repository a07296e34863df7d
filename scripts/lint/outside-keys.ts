/**
 * Lint: a key that may be any string is not looked up in, nor added to, a plain object, which also has `constructor`, `toString`
 * and `__proto__`. It needs types, and oxlint's own rules cannot ask for them: this is a program beside it.
 */
import ts from 'typescript';

const MESSAGES = {
  in: '`in` also finds what every object has, such as `constructor`: use Object.hasOwn',
  write: 'a key such as `constructor` has a value already: use a Map, or an object from Object.create(null)',
  read: 'this also reads what every object has, such as `constructor`: use ownValue, or ask Object.hasOwn first',
};

/** One line per violation: `path:line:column: message`. */
export function outsideKeys(program: ts.Program, paths: readonly string[]): readonly string[] {
  const checker = program.getTypeChecker();
  const isAnyStringAt = (node: ts.Node): boolean => isAnyString(checker.getTypeAtLocation(node));

  function messageOf(node: ts.Node): string | null {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword)
      return isAnyStringAt(node.left) ? MESSAGES.in : null;
    if (!ts.isElementAccessExpression(node) || !isAnyStringAt(node.argumentExpression)) return null;
    const type = checker.getNonNullableType(checker.getTypeAtLocation(node.expression));
    if (type.getStringIndexType() === undefined) return null;
    if (!isLiteral(initializerOf(checker, node.expression)) || asksFirst(node)) return null;
    return isWritten(node) ? MESSAGES.write : MESSAGES.read;
  }

  return paths.flatMap((path) => {
    const file = program.getSourceFile(path);
    if (file === undefined) throw new Error(`not part of the program: ${path}`);
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      const message = messageOf(node);
      if (message !== null) {
        const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
        found.push(`${path}:${line + 1}:${character + 1}: ${message}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return found;
  });
}

function isAnyString(type: ts.Type): boolean {
  return type.isUnion() ? type.types.some(isAnyString) : (type.flags & ts.TypeFlags.String) !== 0;
}

/** What the variable or the property begins with; undefined: not known. */
function initializerOf(checker: ts.TypeChecker, node: ts.Expression): ts.Expression | undefined {
  if (ts.isParenthesizedExpression(node)) return initializerOf(checker, node.expression);
  const symbol = checker.getSymbolAtLocation(ts.isPropertyAccessExpression(node) ? node.name : node);
  if (symbol === undefined) return undefined;
  const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  const declaration = (isAlias ? checker.getAliasedSymbol(symbol) : symbol).valueDeclaration;
  return declaration !== undefined && ts.hasOnlyExpressionInitializer(declaration)
    ? declaration.initializer
    : undefined;
}

function isLiteral(initializer: ts.Expression | undefined): boolean {
  if (initializer === undefined) return false;
  if (ts.isAsExpression(initializer) || ts.isSatisfiesExpression(initializer)) return isLiteral(initializer.expression);
  return ts.isObjectLiteralExpression(initializer);
}

/** Whether the statement around it asks whether the key is the object's own. */
function asksFirst(node: ts.Node): boolean {
  let around = node;
  while (!ts.isStatement(around) && !ts.isClassElement(around) && !ts.isSourceFile(around)) around = around.parent;
  return around.getText().includes('Object.hasOwn(');
}

function isWritten(node: ts.ElementAccessExpression): boolean {
  const { parent } = node;
  if (!ts.isBinaryExpression(parent) || parent.left !== node) return false;
  const { kind } = parent.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}
