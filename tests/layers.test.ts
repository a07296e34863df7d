import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin, stripTypeScriptTypes } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CORE = [
  'core/text',
  'core/stats',
  'core/histogram',
  'core/run',
  'core/series',
  'core/exposition',
  'core/measures',
  'core/objectives',
  'core/chart',
  'core/sweeps',
  'core/api',
];
const BASE = ['exporter/clock', 'exporter/errors', 'exporter/files', 'exporter/http-client'];
const RUNS = ['exporter/servers', 'exporter/store'];

/** The folders whose modules a folder may import, beside its own. `core` imports no package and no built-in of Node. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'core/stats': [],
  'core/run': ['core/stats'],
  'core/histogram': [],
  'core/text': ['core/run'],
  'core/series': ['core/histogram'],
  'core/exposition': ['core/histogram'],
  'core/measures': ['core/histogram', 'core/run', 'core/stats', 'core/text'],
  'core/objectives': ['core/measures', 'core/run', 'core/stats', 'core/text'],
  'core/chart': [],
  'core/sweeps': ['core/chart', 'core/objectives', 'core/run', 'core/text'],
  'core/api': ['core/measures', 'core/run', 'core/stats', 'core/sweeps'],
  'core/index.ts': CORE,
  catalog: [],
  simulator: [...CORE, 'catalog'],
  prometheus: [...CORE, 'catalog'],
  dashboards: [...CORE, 'catalog', 'prometheus'],
  'exporter/clock': [],
  'exporter/http-client': ['exporter/errors'],
  'exporter/errors': ['core/run'],
  'exporter/files': ['exporter/errors'],
  'exporter/judge': [...CORE, 'catalog', ...BASE, ...RUNS],
  'exporter/load': [...CORE, ...BASE],
  'exporter/servers': [...CORE, 'catalog', ...BASE],
  'exporter/store': [...CORE, ...BASE, 'exporter/servers'],
  'exporter/exports': [...CORE, ...BASE],
  'exporter/sweeps': [...CORE, ...BASE, ...RUNS],
  'exporter/imports': [...CORE, 'catalog', ...BASE, ...RUNS],
  'exporter/publish': [...CORE, 'catalog', ...BASE, ...RUNS, 'exporter/judge'],
  'exporter/report': [...CORE, ...BASE, ...RUNS, 'catalog', 'exporter/publish'],
  'exporter/starts': [...CORE, ...BASE],
  'exporter/explain': [...CORE, 'catalog', ...BASE, 'exporter/servers', 'exporter/publish'],
  'exporter/http': [
    ...CORE,
    ...BASE,
    ...RUNS,
    'exporter/judge',
    'exporter/publish',
    'exporter/report',
    'exporter/starts',
    'exporter/sweeps',
  ],
  'exporter/provenance': [...CORE, ...BASE, 'exporter/load', 'exporter/servers'],
  'exporter/run': [
    ...CORE,
    ...BASE,
    ...RUNS,
    'exporter/load',
    'exporter/provenance',
    'exporter/publish',
    'exporter/exports',
    'exporter/report',
  ],
  'exporter/watch': [...CORE, ...BASE, ...RUNS, 'exporter/imports', 'exporter/publish', 'exporter/run'],
};
/** What starts and joins the rest, and no other folder imports. */
const ENTRY_POINTS = ['exporter/cli', 'exporter/library', 'scripts', 'benchmarks', 'tests'];

/** The files in folders, without those that are deleted. */
const FILES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx', '*.mts', '*.mjs'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path.includes('/') && existsSync(join(ROOT, path)));

/** The modules that each file imports, type imports included: paths from the root, or names of packages. */
function importsOf(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    files.map((path) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(ROOT, path), 'utf8'), true, true);
      const modules = importedFiles.map(({ fileName: name }) =>
        name.startsWith('.') ? normalize(join(dirname(path), name)) : name,
      );
      return [path, modules];
    }),
  );
}

const isOfPlugin = (path: string): boolean => path.startsWith('grafana-plugin/');
const IMPORTS = importsOf(FILES.filter((path) => !isOfPlugin(path)));
const PLUGIN_IMPORTS = importsOf(FILES.filter(isOfPlugin));

const folderOf = (path: string): string => path.split('/', /^(core|exporter)\//.test(path) ? 2 : 1).join('/');
const isForTests = (path: string): boolean => /\.i?test\.ts$|\/(testing|fixtures)\/|^tests\//.test(path);
const sources = [...IMPORTS].filter(([path]) => !isForTests(path));

test('every folder imports only the folders that it may know', () => {
  const wrong = sources.flatMap(([path, modules]) => {
    const folder = folderOf(path);
    if (ENTRY_POINTS.includes(folder)) return [];
    const allowed = [folder, ...(MAY_IMPORT[folder] ?? [])];
    const local = modules.filter((module) => IMPORTS.has(module) || module.startsWith('..'));
    return local.filter((module) => !allowed.includes(folderOf(module))).map((module) => `${path} imports ${module}`);
  });
  expect(wrong).toEqual([]);
});

test('the picture of the design shows imports that exist', () => {
  const design = readFileSync(join(ROOT, 'docs/design.md'), 'utf8');
  const arrows = [...design.matchAll(/^ {2}(\w+) --> (\w+)$/gm)].map(
    ([, from, to]) => `exporter/${from} exporter/${to}`,
  );
  const existing = new Set(
    sources.flatMap(([path, modules]) => modules.map((module) => `${folderOf(path)} ${folderOf(module)}`)),
  );
  expect(arrows.length).toBeGreaterThan(10);
  expect(arrows.filter((arrow) => !existing.has(arrow))).toEqual([]);
});

test('core imports neither packages nor built-in modules of Node', () => {
  const wrong = sources
    .filter(([path]) => path.startsWith('core/'))
    .flatMap(([path, modules]) =>
      modules.filter((name) => isBuiltin(name) || !IMPORTS.has(name)).map((name) => `${path} imports ${name}`),
    );
  expect(wrong).toEqual([]);
});

test('what is published imports nothing that is there for tests', () => {
  const published = sources.filter(([path]) => !/^(scripts|benchmarks)\//.test(path));
  const wrong = published.flatMap(([path, modules]) =>
    modules.filter(isForTests).map((module) => `${path} imports ${module}`),
  );
  expect(wrong).toEqual([]);
});

function cyclesOf(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' > '));
    if (start >= 0 || done.has(path)) return;
    for (const module of imports.get(path) ?? []) visit(module, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return cycles;
}

test('no modules import each other in a cycle', () => {
  expect(cyclesOf(IMPORTS)).toEqual([]);
});

/** Folders whose contents still import each other in a cycle. */
const CYCLIC = ['exporter/cli', 'exporter/load', 'exporter/servers', 'simulator'];

/** What the files and folders of each folder import of each other; a folder includes all below it. */
function importsOfContents(imports: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const [path, modules] of imports) {
    for (const module of modules.filter((name) => imports.has(name))) {
      const [from, to] = [path.split('/'), module.split('/')];
      const depth = from.findIndex((part, i) => part !== to[i]);
      if (depth < 0 || CYCLIC.includes(from.slice(0, depth).join('/'))) continue;
      const place = from.slice(0, depth + 1).join('/');
      found.set(place, (found.get(place) ?? new Set()).add(to.slice(0, depth + 1).join('/')));
    }
  }
  return new Map([...found].map(([place, others]) => [place, [...others]]));
}

test('no folders import each other in a cycle, nor with the files beside them', () => {
  expect(cyclesOf(importsOfContents(new Map(sources)))).toEqual([]);
});

describe('the plugin', () => {
  const inSource = [...PLUGIN_IMPORTS].filter(([path]) => path.startsWith('grafana-plugin/src/'));
  const published = inSource.filter(([path]) => !/\.test\.tsx?$/.test(path));

  test('no modules import each other in a cycle', () => {
    expect(cyclesOf(PLUGIN_IMPORTS)).toEqual([]);
  });

  test('no folders import each other in a cycle, nor with the files beside them', () => {
    const untested = [...PLUGIN_IMPORTS].filter(([path]) => !/\.test\.tsx?$/.test(path));
    expect(cyclesOf(importsOfContents(new Map(untested)))).toEqual([]);
  });

  test('a page imports no other page', () => {
    const pageOf = (path: string): string => /^grafana-plugin\/src\/pages\/\w+/.exec(path)?.[0] ?? '';
    const wrong = published.flatMap(([path, modules]) =>
      modules
        .filter((module) => pageOf(path) !== '' && pageOf(module) !== '' && pageOf(module) !== pageOf(path))
        .map((module) => `${path} imports ${module}`),
    );
    expect(wrong).toEqual([]);
  });

  test('every import names a file, so that a cycle cannot hide', () => {
    const wrong = inSource.flatMap(([path, modules]) =>
      modules
        .filter((module) => isOfPlugin(module) && !existsSync(join(ROOT, module)))
        .map((module) => `${path} imports ${module}`),
    );
    expect(wrong).toEqual([]);
  });

  test('of the project it imports only core', () => {
    const wrong = published.flatMap(([path, modules]) =>
      modules
        .filter((module) => IMPORTS.has(module) && !module.startsWith('core/'))
        .map((module) => `${path} imports ${module}`),
    );
    expect(wrong).toEqual([]);
  });
});

/** The packages and built-in modules that are loaded with a module. */
function loadedWith(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const outside = new Set<string>();
  const visit = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const code = stripTypeScriptTypes(readFileSync(join(ROOT, path), 'utf8'));
    for (const [, name = ''] of code.matchAll(/^(?:import|export) (?:[^'"();=]*?\bfrom )?'([^']+)'/gm)) {
      if (name.startsWith('.')) visit(normalize(join(dirname(path), name)));
      else outside.add(name);
    }
  };
  visit(entry);
  return outside;
}

test('a run loads the packages that write its files, and the others where they are used', () => {
  const loaded = loadedWith('exporter/cli/commands/run.ts');
  expect([...loaded].filter((name) => !isBuiltin(name)).sort()).toEqual([
    ...['hyparquet', 'hyparquet-writer'],
    ...['column', 'convert', 'datapage', 'schema'].map((file) => `hyparquet/src/${file}.js`),
  ]);
  // As an ES module it loads fetch and WebSocket.
  expect(loaded).not.toContain('node:http');
});

test('the name of an exported type has one meaning in core, the exporter and the catalog', () => {
  const places = new Map<string, { path: string; exported: boolean }[]>();
  for (const [path] of sources.filter(([name]) => /^(core|exporter|catalog)\//.test(name))) {
    const source = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest);
    for (const node of source.statements) {
      if (!ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node) && !ts.isClassDeclaration(node))
        continue;
      const exported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
      const name = node.name?.text ?? '';
      places.set(name, [...(places.get(name) ?? []), { path, exported }]);
    }
  }
  const wrong = [...places].flatMap(([name, all]) => {
    const isAmbiguous = all.length > 1 && all.some(({ exported }) => exported);
    return isAmbiguous ? [`${name}: ${all.map(({ path }) => path).join(', ')}`] : [];
  });
  expect(wrong).toEqual([]);
});
