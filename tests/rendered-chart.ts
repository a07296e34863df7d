import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { skipWithout } from '../core/testing/skip-without.ts';
import { CHART, fillChart } from '../scripts/kubernetes/chart-files.ts';
import { ensureChartProgram } from '../scripts/kubernetes/chart-program.mjs';

/** A copy of the chart with its dashboards and rules, as `npm run chart` makes it. */
export let filledChart = '';

export interface Variable {
  readonly name: string;
  readonly value?: string;
}

export interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly readinessProbe?: { readonly httpGet?: { readonly path: string } };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumes: readonly { readonly name: string }[];
}

export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

/** What the test of the chart reports: the manifests, or one line per finding. */
export interface Rendered {
  readonly code: number;
  readonly manifests: readonly Manifest[];
  readonly findings: string;
}

/**
 * A `describe` whose tests need the program that renders charts and `filledChart`; without the program they are skipped, and
 * fail with `CI=true`.
 */
export function describeWithChart(name: string, body: (program: string) => void): void {
  const program = ensureChartProgram({ install: false });
  if (program !== null) {
    describe(name, () => {
      let folder: string;
      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'llmbench-filled-chart-'));
        filledChart = join(folder, 'llmbench');
        await cp(CHART, filledChart, { recursive: true });
        await fillChart(filledChart);
      });
      afterAll(() => rm(folder, { recursive: true }));
      body(program);
    });
    return;
  }
  skipWithout(name, 'the test of the chart is not built: node scripts/kubernetes/chart-program.mjs builds it with Go');
}

/** Renders, lints and strictly decodes a chart. `values`: a file; null: the defaults. `objects`: a file; null: no cluster. */
export function renderChart(
  program: string,
  values: string | null,
  chart = filledChart,
  objects: string | null = null,
): Promise<Rendered> {
  const options = [...(values === null ? [] : ['-values', values]), ...(objects === null ? [] : ['-objects', objects])];
  return new Promise((resolve) => {
    execFile(program, [...options, chart], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const manifests = error === null ? (JSON.parse(stdout) as Manifest[]) : [];
      resolve({ code: error === null ? 0 : Number(error.code), manifests, findings: stderr });
    });
  });
}

/** The pods of Deployments, Jobs and CronJobs. */
export function podsOf(manifests: readonly Manifest[]): readonly PodSpec[] {
  return manifests.flatMap(({ kind, spec }) => {
    if (kind === 'CronJob')
      return [(spec as { jobTemplate: { spec: { template: { spec: PodSpec } } } }).jobTemplate.spec.template.spec];
    return kind === 'Deployment' || kind === 'Job' ? [(spec as { template: { spec: PodSpec } }).template.spec] : [];
  });
}

export const containersOf = (manifests: readonly Manifest[]): readonly Container[] =>
  podsOf(manifests).flatMap(({ containers, initContainers = [] }) => [...initContainers, ...containers]);

/** As the kubelet replaces variables: `$$(` is a `$(`. */
export function asKubelet(arg: string, index: number): string {
  return arg
    .replaceAll(/(\$?)\$\(JOB_COMPLETION_INDEX\)/g, (all, escape: string) => (escape === '' ? String(index) : all))
    .replaceAll('$$(', '$(');
}
