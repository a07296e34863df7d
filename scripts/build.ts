/**
 * Compiles what the package ships into `dist/`, a mirror of the checkout: Node does not strip types below node_modules.
 * Data files keep their places relative to the code that reads them.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { basename, join } from 'node:path';
import { keepDeclarations } from './declarations.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const DATA = ['catalog', 'prometheus', 'dashboards', 'schemas', 'docs/runbooks'];
/** The package's `exports`. */
const ENTRIES = ['exporter/library/index.d.ts', 'core/index.d.ts'];
const isData = /\.(ya?ml|json|md)$/;

rmSync(join(root, 'dist'), { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const compile = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (compile.status !== 0) process.exit(compile.status ?? 1);
keepDeclarations(join(root, 'dist'), ENTRIES);

for (const folder of DATA) {
  cpSync(join(root, folder), join(root, 'dist', folder), {
    recursive: true,
    filter: (path) => !/\.[a-z]+$/.test(basename(path)) || (isData.test(path) && !/\/(tests|fixtures)\//.test(path)),
  });
}
