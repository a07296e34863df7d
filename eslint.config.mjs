import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { outsideKeys } from './scripts/lint/outside-keys.mjs';

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      'dist/',
      'release/',
      '.cache/',
      'grafana-plugin/',
      'docs/',
      '**/fixtures/',
      '!fixtures/',
      'runs/',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['core/**/*.ts', 'exporter/**/*.ts'],
    ignores: ['**/*test.ts', '**/testing/**'],
    plugins: { llmbench: { rules: { 'outside-keys': outsideKeys } } },
    rules: { 'llmbench/outside-keys': 'error' },
  },
  {
    files: ['**/*.mjs', '**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly', setTimeout: 'readonly' } },
  },
);
