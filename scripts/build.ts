/**
 * Compiles what the package ships into `dist/`, a mirror of the checkout: Node does not strip types below node_modules.
 * Data files keep their places relative to the code that reads them.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { basename, join, dirname } from 'node:path';

/**
 * Keeps the declarations that the package's entries reach, and deletes the others. Imports in declarations name the
 * source (`.ts`), which a package does not have: they are changed to `.js`.
 */
function keepDeclarations(folder: string, entries: readonly string[]): void {
  const kept = new Set<string>();
  const pending = entries.map((entry) => join(folder, entry));
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (kept.has(path)) continue;
    kept.add(path);
    const text = readFileSync(path, 'utf8');
    const rewritten = text.replace(/((?:from |import\()(['"])\.[^'"]*)\.ts\2/g, (_, start: string, quote: string) => {
      pending.push(join(dirname(path), `${start.slice(start.indexOf(quote) + 1)}.d.ts`));
      return `${start}.js${quote}`;
    });
    if (rewritten !== text) writeFileSync(path, rewritten);
  }
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (name.endsWith('.d.ts') && !kept.has(path) && existsSync(path)) rmSync(path);
  }
}

const root = fileURLToPath(new URL('..', import.meta.url));
const DATA = ['catalog', 'prometheus', 'dashboards', 'schemas', 'docs/runbooks', 'exporter/cli/peer-options'];
/** The package's `exports`. */
const ENTRIES = ['exporter/library/index.d.ts', 'core/index.d.ts'];
const isData = /\.(ya?ml|json|md)$/;

rmSync(join(root, 'dist'), { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript-7/bin/tsc');
const compile = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (compile.status !== 0) process.exit(compile.status ?? 1);
keepDeclarations(join(root, 'dist'), ENTRIES);

for (const folder of DATA) {
  cpSync(join(root, folder), join(root, 'dist', folder), {
    recursive: true,
    filter: (path) => !/\.[a-z]+$/.test(basename(path)) || (isData.test(path) && !/\/(tests|fixtures)\//.test(path)),
  });
}
