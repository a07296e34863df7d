/**
 * Lint: a key that may be any string is not looked up in, nor added to, a plain object, which also has `constructor`, `toString`
 * and `__proto__`.
 */
import ts from 'typescript';

const isAnyString = (type) =>
  type.isUnion() ? type.types.some(isAnyString) : (type.flags & ts.TypeFlags.String) !== 0;

export const outsideKeys = {
  meta: {
    type: 'problem',
    messages: {
      in: '`in` also finds what every object has, such as `constructor`: use Object.hasOwn',
      write: 'a key such as `constructor` has a value already: use a Map, or an object from Object.create(null)',
      read: 'this also reads what every object has, such as `constructor`: use ownValue, or ask Object.hasOwn first',
    },
    schema: [],
  },
  create(context) {
    const services = context.sourceCode.parserServices;
    const checker = services.program.getTypeChecker();

    /** What the variable or the property begins with; undefined: not known. */
    const initializerOf = (node) => {
      const symbol = checker.getSymbolAtLocation(services.esTreeNodeToTSNodeMap.get(node.property ?? node));
      const declaration = symbol?.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return declaration?.valueDeclaration?.initializer;
    };
    const isLiteral = (initializer) => {
      if (initializer === undefined) return false;
      if (ts.isAsExpression(initializer) || ts.isSatisfiesExpression(initializer))
        return isLiteral(initializer.expression);
      return ts.isObjectLiteralExpression(initializer);
    };
    /** Whether the statement around it asks whether the key is the object's own. */
    const isAsked = (node) => {
      let statement = node;
      while (statement.parent && !/Statement|Declaration$|PropertyDefinition|MethodDefinition/.test(statement.type))
        statement = statement.parent;
      return context.sourceCode.getText(statement).includes('Object.hasOwn(');
    };
    const isWritten = (node) => node.parent.type === 'AssignmentExpression' && node.parent.left === node;

    return {
      'BinaryExpression[operator="in"]'(node) {
        if (isAnyString(services.getTypeAtLocation(node.left))) context.report({ node, messageId: 'in' });
      },
      'MemberExpression[computed=true]'(node) {
        if (!isAnyString(services.getTypeAtLocation(node.property))) return;
        if (checker.getNonNullableType(services.getTypeAtLocation(node.object)).getStringIndexType() === undefined)
          return;
        if (!isLiteral(initializerOf(node.object)) || isAsked(node)) return;
        context.report({ node, messageId: isWritten(node) ? 'write' : 'read' });
      },
    };
  },
};
