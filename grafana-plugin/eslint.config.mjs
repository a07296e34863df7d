import grafanaConfig from '@grafana/eslint-config/flat.js';
import grafanaI18n from '@grafana/i18n/eslint-plugin';
import { defineConfig } from 'eslint/config';

export default defineConfig([
  {
    ignores: ['**/node_modules/', '**/dist/', 'host/out/', 'test-results/', 'playwright-report/', '**/.eslintcache'],
  },
  ...grafanaConfig,
  { rules: { 'react/prop-types': 'off' } },
  { files: ['{build,e2e,e2e-grafana,host,test}/**/*.{ts,tsx,mts}', '*.ts'] },
  {
    // `use` of Playwright's fixtures is no hook.
    files: ['e2e/**/*.{ts,tsx,mts}', 'e2e-grafana/**/*.ts'],
    rules: { 'react-hooks/rules-of-hooks': 'off' },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: './tsconfig.json' } },
    rules: {
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/text.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "ImportDeclaration[source.value='@grafana/i18n'] > ImportSpecifier[imported.name='t']",
          message: 'Import t from src/text.ts, which does not escape values.',
        },
      ],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    // Grafana's own editors of panel options are in English only.
    ignores: ['src/panels/**', '**/*.test.{ts,tsx}'],
    plugins: { '@grafana/i18n': grafanaI18n },
    rules: {
      '@grafana/i18n/no-untranslated-strings': 'error',
      '@grafana/i18n/no-translation-top-level': 'error',
    },
  },
]);
