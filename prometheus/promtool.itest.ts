import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { describeWithEachPrometheus, describeWithPrometheusMajor } from './testing/describe-prometheus.ts';
import { renderGrafanaAlerts } from './grafana-alerts.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

function files(folder: string): string[] {
  return readdirSync(join(HERE, folder))
    .filter((file) => file.endsWith('.yml'))
    .map((file) => join(HERE, folder, file));
}

const NATIVE_RULES = join(HERE, 'native/rules');
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

await describeWithEachPrometheus('promtool', ({ promtool: program }) => {
  test('accepts the configuration and the rules that it names', async () => {
    const verdict = await promtool(program, 'check', 'config', join(HERE, 'prometheus.yml'));
    expect(verdict).toMatchObject({ status: 0 });
    expect(verdict.output).toContain(`${RULE_FILES.length} rule files found`);
  });

  test('finds no fault in the rules', async () => {
    const verdict = await promtool(program, 'check', 'rules', '--lint=all', '--lint-fatal', ...RULE_FILES);
    expect(verdict).toMatchObject({ status: 0 });
    for (const file of RULE_FILES) expect(verdict.output).toContain(`Checking ${file}`);
  });

  test('passes the unit tests of the rules', async () => {
    const verdict = await promtool(program, 'test', 'rules', ...files('tests'));
    expect(verdict).toMatchObject({ status: 0 });
    expect(verdict.output.match(/^ *SUCCESS$/gm)).toHaveLength(files('tests').length);
  });

  test('finds nothing to say about the queries of the Grafana-managed rules', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-promtool-'));
    try {
      const { groups } = parse(renderGrafanaAlerts()) as {
        groups: { name: string; rules: { title: string; data: { model: { expr?: string } }[] }[] }[];
      };
      const asPrometheus = groups.map(({ name, rules }) => ({
        name,
        rules: rules.map(({ title, data }) => ({ alert: title, expr: data[0]?.model.expr })),
      }));
      const file = join(folder, 'grafana.yml');
      await writeFile(file, stringify({ groups: asPrometheus }));
      expect(await promtool(program, 'check', 'rules', '--lint=all', '--lint-fatal', file)).toMatchObject({
        status: 0,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
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

await describeWithPrometheusMajor('3', 'promtool with the rules for native histograms', ({ promtool: program }) => {
  const natives = readdirSync(NATIVE_RULES).map((file) => join(NATIVE_RULES, file));

  test('finds no fault in them', async () => {
    const verdict = await promtool(program, 'check', 'rules', '--lint=all', '--lint-fatal', ...natives);
    expect(verdict).toMatchObject({ status: 0 });
  });

  test('passes their unit tests', async () => {
    const tests = files('tests/native');
    const verdict = await promtool(program, 'test', 'rules', ...tests);
    expect(verdict).toMatchObject({ status: 0 });
    expect(verdict.output.match(/^ *SUCCESS$/gm)).toHaveLength(tests.length);
  });

  test('passes the unit tests of the classic rules: classic histograms are recorded as before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'llmbench-promtool-'));
    try {
      const copies = files('tests').map(async (file) => {
        const text = await readFile(file, 'utf8');
        const moved = text
          .replaceAll('- ../rules/', `- ${NATIVE_RULES}/`)
          .replaceAll('- ../alerts/', `- ${HERE}alerts/`);
        const copy = join(folder, basename(file));
        await writeFile(copy, moved);
        return copy;
      });
      const verdict = await promtool(program, 'test', 'rules', ...(await Promise.all(copies)));
      expect(verdict).toMatchObject({ status: 0 });
      expect(verdict.output.match(/^ *SUCCESS$/gm)).toHaveLength(copies.length);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
