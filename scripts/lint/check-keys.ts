/** `node scripts/lint/check-keys.ts`: looks for keys from outside in the sources of the program; a part of `npm run lint`. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { outsideKeys } from './outside-keys.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { config } = ts.readConfigFile(`${root}tsconfig.json`, (path) => ts.sys.readFile(path)) as { config: unknown };
const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const sources = fileNames.filter((path) => {
  const name = relative(root, path);
  return /^(core|exporter)\//.test(name) && !/test\.ts$|\/(testing|fixtures)\//.test(name);
});
const found = outsideKeys(ts.createProgram(sources, options), sources);
for (const line of found) console.error(relative(root, line));
process.exitCode = found.length > 0 || sources.length === 0 ? 1 : 0;
