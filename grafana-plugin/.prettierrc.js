// As Grafana's plugins are formatted.
module.exports = { endOfLine: 'auto', printWidth: 120, trailingComma: 'es5', singleQuote: true };
