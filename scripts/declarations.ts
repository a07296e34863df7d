import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Keeps the declarations that the package's entries reach, and deletes the others. Imports in declarations name the
 * source (`.ts`), which a package does not have: they are changed to `.js`.
 */
export function keepDeclarations(folder: string, entries: readonly string[]): void {
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
