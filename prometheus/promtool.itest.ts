import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeWithPrometheus } from './describe-prometheus.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

function files(folder: string): string[] {
  return readdirSync(join(HERE, folder))
    .filter((file) => file.endsWith('.yml'))
    .map((file) => join(HERE, folder, file));
}

const RULE_FILES = [...files('rules'), ...files('alerts')];

interface Verdict {
  readonly status: number;
  readonly output: string;
}

function promtool(program: string, ...args: string[]): Promise<Verdict> {
  return new Promise((resolve) => {
    execFile(program, args, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ status, output: stdout + stderr });
    });
  });
}

await describeWithPrometheus('promtool', ({ promtool: program }) => {
  test('accepts the configuration and the rules that it names', async () => {
    const verdict = await promtool(program, 'check', 'config', join(HERE, 'prometheus.yml'));
    expect(verdict).toMatchObject({ status: 0 });
    expect(verdict.output).toContain(`${RULE_FILES.length} rule files found`);
  });

  test.each(RULE_FILES)('finds nothing to say about %s', async (file) => {
    const verdict = await promtool(program, 'check', 'rules', '--lint=all', '--lint-fatal', file);
    expect(verdict).toMatchObject({ status: 0 });
  });

  test.each(files('tests'))('passes the unit tests of %s', async (file) => {
    const verdict = await promtool(program, 'test', 'rules', file);
    expect(verdict.output).not.toContain('FAILED');
    expect(verdict).toMatchObject({ status: 0 });
  });

  test('would see a value that is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-promtool-'));
    try {
      const file = join(folder, 'wrong.yml');
      await writeFile(file, "tests: [{ promql_expr_test: [{ expr: '1', exp_samples: [{ value: 2 }] }] }]\n");
      const verdict = await promtool(program, 'test', 'rules', file);
      expect(verdict.status).toBe(1);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
