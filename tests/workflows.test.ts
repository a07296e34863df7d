import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WORKFLOWS = join(ROOT, '.github/workflows');

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

interface Step {
  readonly run?: string;
  readonly 'working-directory'?: string;
}

const steps = (file: string): readonly Step[] =>
  Object.values((parse(readFileSync(join(WORKFLOWS, file), 'utf8')) as Workflow).jobs).flatMap((job) => job.steps);

/** The files and npm scripts that a step runs and that do not exist. */
function missing({ run = '', 'working-directory': folder = '.' }: Step): string[] {
  const directory = join(ROOT, folder);
  const files = [...run.matchAll(/\b(?:node|bash) ([\w./-]+\.(?:js|mjs|ts|sh))/g)].map(([, file = '']) => file);
  const names = [...run.matchAll(/\bnpm (?:run )?([\w:]+)/g)].map(([, name = '']) => name);
  return [
    ...files.filter((file) => !existsSync(join(directory, file))),
    ...names.filter((name) => !NPM_COMMANDS.has(name) && !scriptsOf(directory).has(name)),
  ];
}

const NPM_COMMANDS = new Set(['audit', 'ci', 'pack', 'pkg', 'publish', 'sbom']);

function scriptsOf(directory: string): ReadonlySet<string> {
  const { scripts } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { scripts: object };
  return new Set(Object.keys(scripts));
}

test.each(readdirSync(WORKFLOWS))('%s runs only files and npm scripts that exist', (file) => {
  expect(steps(file).some(({ run = '' }) => /\b(node|npm) /.test(run))).toBe(true);
  expect(steps(file).flatMap(missing)).toEqual([]);
});

test('workflows and the action use others by digest: a tag can be moved', () => {
  const files = [...readdirSync(WORKFLOWS).map((file) => join(WORKFLOWS, file)), join(ROOT, 'action.yml')];
  const used = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/uses: (.+)/g)].map(([, what]) => what));
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((what) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(what ?? ''))).toEqual([]);
});
