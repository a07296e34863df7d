import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readOptions } from '../exporter/cli/options/options.ts';
import { RUN_OPTIONS, runRequests } from '../exporter/cli/options/run-options.ts';
import {
  asKubelet,
  containersOf,
  describeWithChart,
  filledChart,
  podsOf,
  renderChart,
  type Manifest,
} from './rendered-chart.ts';
import { CHART } from '../scripts/kubernetes/chart-files.ts';
import { announced, start } from './llmbench.ts';

const example = (name: string): string => join(CHART, 'examples', `${name}.yaml`);

/** Of grafana-plugin/src/dashboards: they come with the plugin. */
const APP_DASHBOARDS = 7;

describeWithChart('the Helm chart', (program) => {
  let directory: string;
  const rendered = new Map<string, readonly Manifest[]>();
  const manifestsOf = (name: string): readonly Manifest[] => rendered.get(name) ?? [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'llmbench-chart-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  const withValues = async (text: string): Promise<Awaited<ReturnType<typeof renderChart>>> => {
    const file = join(directory, 'values.yaml');
    await writeFile(file, text);
    return renderChart(program, file);
  };
  const kinds = (manifests: readonly Manifest[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { kind } of manifests) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  };

  test.each<[string, Record<string, number>]>([
    ['', { Deployment: 1, Service: 1, PersistentVolumeClaim: 1, ServiceAccount: 1, Pod: 1 }],
    [
      'team',
      {
        ...{ Deployment: 1, Service: 1, ServiceAccount: 1, Ingress: 1, NetworkPolicy: 2, Pod: 1 },
        ...{ ServiceMonitor: 1, PrometheusRule: 12, ConfigMap: 19 + APP_DASHBOARDS },
      },
    ],
    [
      'nightly',
      {
        ...{ Deployment: 1, Service: 1, PersistentVolumeClaim: 1, ServiceAccount: 1, Pod: 1 },
        ...{ CronJob: 2, PodMonitor: 2 },
      },
    ],
    ['sharded', { ServiceAccount: 1, Job: 1, Role: 1, RoleBinding: 1 }],
    [
      'everything',
      {
        ...{ Deployment: 1, Service: 1, ServiceAccount: 1, Ingress: 1, NetworkPolicy: 2, Job: 1, CronJob: 1, Pod: 1 },
        ...{
          ServiceMonitor: 1,
          PodMonitor: 1,
          PrometheusRule: 12,
          ConfigMap: 19 + APP_DASHBOARDS,
          Role: 2,
          RoleBinding: 2,
        },
      },
    ],
  ])('lints, renders and decodes strictly with the values %p', async (name, counts) => {
    const { code, manifests, findings } = await renderChart(program, name === '' ? null : example(name));
    expect([code, findings]).toEqual([0, '']);
    expect(kinds(manifests)).toEqual(counts);
    const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.namespace}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    rendered.set(name, manifests);
  });

  test('a chart without its dashboards and rules names the command that adds them', async () => {
    for (const values of ['team', 'everything']) {
      const { code, findings } = await renderChart(program, example(values), await emptyChart());
      expect([code, findings]).toEqual([1, expect.stringContaining('run `npm run chart` first')]);
    }
  });

  const emptyChart = async (): Promise<string> => {
    const chart = join(directory, 'empty', 'llmbench');
    await cp(CHART, chart, { recursive: true });
    await rm(join(chart, 'files'), { recursive: true, force: true });
    return chart;
  };

  test('a field that Kubernetes or the operator does not know, or a template that fails, is a finding', async () => {
    const broken = async (file: string, from: string, to: string): Promise<string> => {
      const chart = join(directory, 'broken');
      await rm(chart, { recursive: true, force: true });
      await cp(filledChart, chart, { recursive: true });
      const path = join(chart, 'templates', file);
      const text = await readFile(path, 'utf8');
      expect(text).toContain(from);
      await writeFile(path, text.replace(from, to));
      const { code, findings } = await renderChart(program, example('everything'), chart);
      expect(code).toBe(1);
      return findings;
    };
    expect(await broken('exporter/deployment.yaml', 'replicas: 1', 'replica: 1')).toContain(
      'exporter/deployment.yaml: strict decoding error: unknown field "spec.replica"',
    );
    expect(await broken('monitoring/monitors.yaml', 'scrapeTimeout:', 'scrape_timeout:')).toContain('scrape_timeout');
    expect(await broken('exporter/service.yaml', '.type }}', '.kind }}')).toContain('service.yaml');
  });

  test('wrong values are refused with their path', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['exporter: { replicas: 2 }', /exporter.*replicas/s],
      ['storage: { kind: disk }', /storage.*kind/s],
      ['storage: { kind: bucket }', /storage\.bucket\.location is required/],
      ['benchmark: { enabled: true }', /benchmark\.enabled requires storage\.kind=bucket/],
      [
        'storage: { kind: bucket, bucket: { location: s3://b } }\nbenchmark: { enabled: true }',
        /benchmark\.runId is required/,
      ],
      ['exporter: { ingress: { enabled: true } }', /exporter\.ingress\.hosts is required/],
      ['exporter: { options: { port: 80 } }', /exporter\.options\.port is set by the chart/],
      [
        "scenarios: [{ name: a, schedule: '1 * * * *', options: { runs-dir: b } }]",
        /scenarios\[0\]\.options\.runs-dir is set by the chart/,
      ],
    ];
    for (const [values, finding] of cases) {
      const { code, findings } = await withValues(values);
      expect([code, findings]).toEqual([1, expect.stringMatching(finding)]);
    }
  });

  test('every container has a read-only root file system, no privileges, and writes only where it may', () => {
    const manifests = ['', 'nightly', 'sharded', 'everything'].flatMap(manifestsOf);
    for (const pod of podsOf(manifests)) {
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
      const volumes = pod.volumes.map(({ name }) => name);
      for (const { securityContext, volumeMounts } of [...(pod.initContainers ?? []), ...pod.containers]) {
        expect(securityContext).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        });
        expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(
          expect.arrayContaining(['/runs', '/tmp', '/cache']),
        );
        for (const { name } of volumeMounts) expect(volumes).toContain(name);
      }
    }
  });

  test('the program accepts the arguments of every benchmark, and each pod of the Job is another shard of one run', () => {
    const argsOf = (name: string, command: string): readonly string[][] =>
      containersOf(manifestsOf(name)).flatMap(({ args: [first, ...args] }) => (first === command ? [args] : []));
    const requested = (args: readonly string[], index: number) =>
      runRequests(
        readOptions(
          RUN_OPTIONS,
          args.map((arg) => asKubelet(arg, index)),
          {},
        ),
      );
    for (const name of ['nightly', 'everything']) {
      for (const args of argsOf(name, 'run')) expect(requested(args, 0)).toHaveLength(1);
    }
    const [args = []] = argsOf('sharded', 'run');
    const shards = [0, 1, 2, 3].flatMap((index) => requested(args, index));
    expect(shards.map(({ shard }) => shard?.share)).toEqual([0, 1, 2, 3].map((part) => ({ part, parts: 4 })));
    expect(new Set(shards.map(({ runId }) => runId))).toEqual(new Set(['night-7']));
    expect(args).toEqual(expect.arrayContaining(['--request-count=1000000', '--yes']));
    const escaped = argsOf('everything', 'run')
      .flat()
      .find((arg) => arg.startsWith('--header='));
    expect(asKubelet(escaped ?? '', 0)).toBe('--header=X-Team: $(NOT_A_VARIABLE)');
  });

  const inCluster = async (values: string, objects: readonly unknown[]): ReturnType<typeof renderChart> => {
    const file = join(directory, 'objects.json');
    await writeFile(file, JSON.stringify(objects));
    return renderChart(program, values, filledChart, file);
  };
  const named = (manifests: readonly Manifest[], kind: string): Manifest | undefined =>
    manifests.find((manifest) => manifest.kind === kind);

  test('an upgrade leaves the Job of a run as the cluster has it, whatever the chart and its values are', async () => {
    const job = named(manifestsOf('sharded'), 'Job');
    const { template, ...spec } = structuredClone(job?.spec) as { template: { metadata: { labels: object } } };
    expect(JSON.stringify(template)).not.toContain('helm.sh/chart');
    const added = { 'batch.kubernetes.io/controller-uid': 'a', 'controller-uid': 'a', 'job-name': 'b' };
    const metadata = { ...template.metadata, labels: { ...template.metadata.labels, ...added } };
    // As the controller completes it.
    const present = { ...spec, selector: { matchLabels: added }, suspend: false, template: { ...template, metadata } };
    const values = join(directory, 'upgraded.yaml');
    const changed = (await readFile(example('sharded'), 'utf8')).replace('request-count: 1000000', 'request-count: 5');
    await writeFile(values, `${changed}\nimage: { tag: another }\n`);
    const upgraded = await inCluster(values, [{ ...job, spec: present }]);
    expect([upgraded.code, upgraded.findings]).toEqual([0, '']);
    expect(named(upgraded.manifests, 'Job')?.spec).toEqual({ ...spec, suspend: false, template });
    const first = await inCluster(values, []);
    expect(JSON.stringify(named(first.manifests, 'Job'))).toContain('--request-count=5');
  });

  test('a claim that is kept with other access modes is refused before anything is changed', async () => {
    const claim = named(manifestsOf(''), 'PersistentVolumeClaim');
    const refused = await inCluster(example('nightly'), [claim]);
    expect([refused.code, refused.findings]).toEqual([
      1,
      expect.stringContaining(
        'the claim llmbench-runs exists with the access modes ReadWriteOnce, which cannot be changed',
      ),
    ]);
    expect((await inCluster(example('nightly'), [named(manifestsOf('nightly'), 'PersistentVolumeClaim')])).code).toBe(
      0,
    );
  });

  test('only pods that list pods have a token of the API', () => {
    const tokens = (name: string): readonly boolean[] =>
      podsOf(manifestsOf(name)).map(({ automountServiceAccountToken }) => automountServiceAccountToken);
    expect([tokens(''), tokens('nightly'), tokens('sharded')]).toEqual([[false], [false, false, false], [true]]);
  });

  test('dashboards are ConfigMaps that Kubernetes and kubectl accept, equal to those of the repository', async () => {
    const maps = manifestsOf('team').filter(
      ({ kind, data = {} }) => kind === 'ConfigMap' && /json$/.test(Object.keys(data)[0] ?? ''),
    );
    expect(maps).toHaveLength(17 + APP_DASHBOARDS);
    for (const map of maps) {
      const [[name, text] = ['', '']] = Object.entries(map.data ?? {});
      const folder = name.endsWith('-app.json') ? '../grafana-plugin/src/dashboards' : '../dashboards';
      expect(JSON.parse(text)).toEqual(
        JSON.parse(await readFile(new URL(`${folder}/${name}`, import.meta.url), 'utf8')),
      );
      // An annotation holds the object after `kubectl apply`; all annotations together have at most 256 kB.
      expect(Buffer.byteLength(JSON.stringify(map))).toBeLessThan(256 * 1024);
      expect(map.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    }
  });

  test('with native histograms, dashboards and recording rules are those that read both kinds', async () => {
    const values = 'histograms: native\nrules: { enabled: true }\ngrafana: { dashboards: { enabled: true } }';
    const { manifests } = await withValues(values);
    const dashboards = manifests.flatMap(({ kind, data = {} }) =>
      kind === 'ConfigMap' ? Object.entries(data).filter(([name]) => name.endsWith('.json')) : [],
    );
    expect(dashboards).toHaveLength(17);
    for (const [name, text] of dashboards) {
      expect(JSON.parse(text)).toEqual(
        JSON.parse(await readFile(new URL(`../prometheus/native/dashboards/${name}`, import.meta.url), 'utf8')),
      );
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(255 * 1024);
    }
    const rules = manifests.filter(({ kind }) => kind === 'PrometheusRule');
    expect(rules.map(({ metadata }) => metadata.name).filter((name) => name.endsWith('-alerts-servers'))).toHaveLength(
      1,
    );
    const vllm = rules.filter(({ metadata }) => metadata.name.endsWith('-rules-vllm'));
    expect(vllm).toHaveLength(1);
    expect(JSON.stringify(vllm)).toContain('or ignoring (le) rate(vllm:time_to_first_token_seconds[4m])');
    expect((await withValues('histograms: both')).code).not.toBe(0);
  });

  test('alerts link to runbooks at the configured URL, by default where the exporter serves them', async () => {
    const links = (manifests: readonly Manifest[]): readonly string[] => {
      const rules = manifests.filter(({ kind }) => kind === 'PrometheusRule');
      expect(JSON.stringify(rules)).not.toContain('127.0.0.1');
      return [...JSON.stringify(rules).matchAll(/"runbook_url":"([^"]*)\/Llm\w+\.md"/g)].map(([, url]) => url ?? '');
    };
    expect(new Set(links(manifestsOf('team')))).toEqual(new Set(['https://llmbench.example.org/runbooks']));
    expect(new Set(links(manifestsOf('everything')))).toEqual(new Set(['https://wiki.example.org/runbooks']));
    const { manifests } = await withValues('rules: { enabled: true }');
    expect(new Set(links(manifests))).toEqual(new Set(['http://llmbench.benchmarks.svc:9469/runbooks']));
  });

  test('a pod is ready when its runs have been read, with a bucket when it answers: it shows what its cache has', async () => {
    const pathOf = (manifests: readonly Manifest[]): string | undefined =>
      containersOf(manifests).find(({ readinessProbe }) => readinessProbe !== undefined)?.readinessProbe?.httpGet?.path;
    expect(pathOf(manifestsOf(''))).toBe('/-/ready');
    const bucket = await withValues('storage: { kind: bucket, bucket: { location: "s3://benchmarks/team" } }');
    expect(bucket.findings).toBe('');
    expect(pathOf(bucket.manifests)).toBe('/-/healthy');
  });

  test('the exporter starts with its arguments and environment, and answers its probe and its Service', async () => {
    const [exporter] = containersOf(manifestsOf(''));
    const runs = join(directory, 'runs');
    const args = (exporter?.args ?? []).map((arg) =>
      arg
        .replace('--runs-dir=/runs', `--runs-dir=${runs}`)
        .replace('--port=9469', '--port=0')
        .replace('0.0.0.0', '127.0.0.1'),
    );
    const env = Object.fromEntries(
      (exporter?.env ?? []).map(({ name, value = '' }) => [name, value.replace('/cache', join(directory, 'cache'))]),
    );
    const { child, ended } = start([...args, '--json'], { env });
    try {
      const { url } = await announced({ child, ended });
      expect((await fetch(`${url}/-/healthy`)).status).toBe(200);
      // What `helm test` runs, against this address.
      const pod = named(manifestsOf(''), 'Pod')?.spec as { containers: readonly { command: readonly string[] }[] };
      const [program = '', ...command] = pod.containers[0]?.command ?? [];
      expect([program, command.pop()]).toEqual(['node', 'http://llmbench.benchmarks.svc:9469/-/ready']);
      const tested = await promisify(execFile)(process.execPath, [...command, `${url}/-/ready`]);
      expect(tested.stdout).toContain('200 llmbench is ready.');
      await expect(promisify(execFile)(process.execPath, [...command, `${url}/nothing`])).rejects.toThrow();
    } finally {
      child.kill();
      await ended;
    }
  });
});
