import { defineConfig } from 'i18next-cli';
import pluginJson from './src/plugin.json' with { type: 'json' };

export default defineConfig({
  locales: pluginJson.languages,
  extract: {
    input: ['src/**/*.{tsx,ts}'],
    ignore: ['src/**/*.test.{tsx,ts}'],
    output: 'src/locales/{{language}}/{{namespace}}.json',
    defaultNS: pluginJson.id,
    functions: ['t', '*.t'],
    transComponents: ['Trans'],
    sort: true,
  },
});
