import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ResultFile } from '../../core/run/result.ts';
import type { RunFile } from '../../core/run/run.ts';
import { startSimulator, type SimulatedSystem } from '../../simulator/main.ts';
import { requestedRuns } from '../cli/options/requested-runs.ts';
import { servedAlone } from '../http/testing/served-alone.ts';
import { RunControls } from '../load/phases/run-controls.ts';
import { performRun } from './perform-run.ts';

/** An address of the loopback interface that only this test uses, so that default ports are free on it; Linux only. */
const onLinux = process.platform === 'linux' ? test : test.skip;
let hosts = 0;
const ownHost = (): string => `127.77.${process.pid % 250}.${++hosts}`;

const cleanUp: (() => Promise<unknown>)[] = [];
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llmbench-discovery-'));
});
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
  await rm(folder, { recursive: true });
});

/** A simulated system on a host of its own; its metrics page is at the default port as well. */
async function simulated(system: SimulatedSystem, defaultPort: number | null, pageOf = 0) {
  const host = ownHost();
  const simulator = await startSimulator({
    system,
    host,
    model: 'm',
    engine: { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 },
  });
  cleanUp.push(() => simulator.close());
  const page = new URL(simulator.metricsUrls.at(pageOf) ?? '');
  const seen = defaultPort === null ? null : await forwarded(host, defaultPort, Number(page.port));
  return { url: `http://${host}:${simulator.port}`, host, seen };
}

/** Passes each connection on; returns how many there were. */
async function forwarded(host: string, from: number, to: number): Promise<{ connections: number }> {
  const seen = { connections: 0 };
  const server: Server = createServer((socket) => {
    seen.connections += 1;
    const onward = connect(to, host);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(from, host, resolve));
  cleanUp.push(() => new Promise((resolve) => server.close(resolve)));
  return seen;
}

async function run(url: string, argv: readonly string[] = []) {
  const plain = ['--url', url, '--model', 'm', '--runs-dir', join(folder, 'runs'), '--linger', 'no', '--isl', '5'];
  const { requests } = await requestedRuns([...plain, '--osl', '4', '--request-count', '3', ...argv], {});
  const lines: string[] = [];
  const host = {
    servePage: servedAlone,
    say: (line: string): unknown => lines.push(line),
    observe: () => ({ stop: () => undefined }),
  };
  const [request] = requests;
  if (request === undefined) throw new Error('no run');
  const { path, result } = await performRun(request, new RunControls(), host, '0.0.0');
  const { target } = JSON.parse(await readFile(join(path, 'run.json'), 'utf8')) as RunFile;
  return { system: target.system, result, lines, targets: targetsOf(result) };
}

const targetsOf = ({ servers }: ResultFile): readonly string[] =>
  (servers?.targets ?? [])
    .filter(({ state }) => state === 'up')
    .map(({ target, system }) => `${system} ${URL.parse(target)?.port ?? target}`);

const apiPort = (url: string): string => new URL(url).port;

onLinux('Triton: its page is at port 8002', async () => {
  const { url, host } = await simulated('triton', 8002);
  const { system, targets, lines, result } = await run(url, ['--endpoint-type', 'triton_generate']);
  expect({ system, targets }).toEqual({ system: 'triton', targets: ['triton 8002'] });
  expect(result.servers).toMatchObject({ exact: true });
  expect(lines.filter((line) => line.includes('found'))).toEqual([
    `found metrics of triton at http://${host}:8002/metrics (--no-discovery disables the search)`,
  ]);
});

onLinux('the SGLang gateway: its page is at port 29000, and that of its workers at its API', async () => {
  const { url } = await simulated('sglang', 29_000);
  const { system, targets, result } = await run(url);
  expect({ system, targets }).toEqual({ system: 'smg', targets: ['smg 29000', `sglang ${apiPort(url)}`] });
  expect(result.servers).toMatchObject({ exact: true });
});

onLinux('vLLM with KVBM: the page of the connector is at port 6880', async () => {
  const { url } = await simulated('kvbm', 6880);
  const { system, targets } = await run(url);
  expect({ system, targets }).toEqual({ system: 'vllm', targets: [`vllm ${apiPort(url)}`, 'kvbm 6880'] });
});

onLinux("Dynamo: its stack's DCGM exporter is at port 9401", async () => {
  const { url } = await simulated('dynamo', 9401, -1);
  const { system, targets } = await run(url);
  expect({ system, targets }).toEqual({ system: 'dynamo', targets: [`dynamo ${apiPort(url)}`, 'dcgm 9401'] });
});

onLinux('GPUs without an exporter on this machine: nvidia-smi samples their power', async () => {
  const program = join(folder, 'nvidia-smi');
  const row = '1, GPU-5eed, NVIDIA L4, 40.00';
  await writeFile(
    program,
    `#!/bin/sh\ncase "$*" in *loop-ms*) while true; do echo "${row}"; sleep 0.05; done;; esac\n`,
    {
      mode: 0o755,
    },
  );
  const { PATH } = process.env;
  process.env['PATH'] = `${folder}:${PATH ?? ''}`;
  try {
    const { url } = await simulated('vllm', null);
    const { targets, result, lines } = await run(url);
    expect(targets).toContain('null nvidia-smi');
    expect(lines).toContain("nvidia-smi samples the power of this machine's GPUs");
    const energy = result.servers?.gpu_energy ?? null;
    expect(energy).toMatchObject({ gpus: 1, source: 'power', by_gpu: [{ gpu: 'GPU-5eed', model: 'NVIDIA L4' }] });
    expect(energy?.watts).toBeCloseTo(40, 6);
    expect(energy?.idle_watts).toBe(40);
    expect(energy?.joules).toBeCloseTo(40 * (result.window.seconds ?? NaN), 1);
  } finally {
    process.env['PATH'] = PATH;
  }
});

onLinux.each(['vllm', 'trtllm'] as const)('%s: the page of the API', async (name) => {
  const { url } = await simulated(name, null);
  const { system, targets, lines } = await run(url);
  expect({ system, targets }).toEqual({ system: name, targets: [`${name} ${apiPort(url)}`] });
  expect(lines.some((line) => line.includes('found'))).toBe(false);
});

/** A simulated system whose pages on ports of their own are where the real one has them by default. */
async function atDefaultPorts(system: SimulatedSystem, workers: number) {
  const engine = { stepBaseMilliseconds: 2, decodeMillisecondsPerSequence: 0.01, prefillMillisecondsPerToken: 0.01 };
  const simulator = await startSimulator({
    system,
    workers,
    host: ownHost(),
    model: 'm',
    engine,
    defaultPagePorts: true,
  });
  cleanUp.push(() => simulator.close());
  return simulator.url;
}

onLinux.each<[SimulatedSystem, workers: number, targets: (api: string) => string[], endpoint?: string]>([
  ['vllm', 1, (api) => [`vllm ${api}`]],
  ['sglang', 1, (api) => [`sglang ${api}`]],
  ['sglang', 2, (api) => ['smg 29000', `sglang ${api}`]],
  ['trtllm', 1, (api) => [`trtllm ${api}`]],
  ['triton', 1, () => ['triton 8002', 'dcgm 9400'], 'triton_generate'],
  ['dynamo', 2, (api) => [`dynamo ${api}`, 'dcgm 9401']],
  ['kvbm', 1, (api) => [`vllm ${api}`, 'kvbm 6880', 'dcgm 9400']],
])('the simulated %s with %d engines: a run with no more than --url collects from it', async (...of) => {
  const [name, workers, expected, endpoint = 'chat'] = of;
  const url = await atDefaultPorts(name, workers);
  const { targets, result } = await run(url, ['--endpoint-type', endpoint]);
  expect(targets).toEqual(expected(apiPort(url)));
  expect(result.servers).toMatchObject({ exact: true });
});

onLinux('a page at a default port that belongs to something else is not scraped', async () => {
  const { url } = await simulated('vllm', 6880);
  expect((await run(url)).targets).toEqual([`vllm ${apiPort(url)}`]);
});

/** A page of somebody else; `counted` is what it shows at each read. */
async function foreignPage(host: string, port: number, text: (read: number) => string): Promise<void> {
  let reads = 0;
  const server = createHttpServer((_, response) => response.end(text(reads++)));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  cleanUp.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()));
}

const foreignTriton = (requests: number): string =>
  [
    '# TYPE nv_inference_request_success counter',
    `nv_inference_request_success{model="other",version="1"} ${requests}`,
    '# TYPE nv_gpu_power_usage gauge',
    'nv_gpu_power_usage{gpu_uuid="GPU-other"} 300',
    '# TYPE nv_energy_consumption counter',
    `nv_energy_consumption{gpu_uuid="GPU-other"} ${1000 + requests}`,
    '',
  ].join('\n');

onLinux.each([
  ['idle', () => 7],
  ['busy', (read: number) => 7 + read],
])(
  "somebody else's Triton at port 8002, %s: neither its system nor its energy is that of the run",
  async (_, counted) => {
    const { url, host } = await simulated('triton', null);
    await foreignPage(host, 8002, (read) => foreignTriton(counted(read)));
    const { system, targets, lines, result } = await run(url, ['--endpoint-type', 'triton_generate']);
    expect({ system, targets }).toEqual({ system: null, targets: [] });
    expect(result.servers).toMatchObject({ gpu_energy: null, requests: null });
    expect(lines).toContainEqual(
      `the metrics of triton at http://${host}:8002/metrics are not used: what it counts did not change with a request of this run alone (--server-metrics uses them)`,
    );
  },
);

onLinux('named, it is used', async () => {
  const { url, host } = await simulated('triton', null);
  await foreignPage(host, 8002, () => foreignTriton(7));
  const named = ['--server-metrics', `triton=${host}`];
  const { system, targets } = await run(url, ['--endpoint-type', 'triton_generate', ...named]);
  expect({ system, targets }).toEqual({ system: 'triton', targets: ['triton 8002'] });
});

onLinux('an exporter of GPUs that did nothing during the run is left out', async () => {
  const { url, host } = await simulated('vllm', null);
  const gpu = (read: number): string =>
    [
      '# TYPE DCGM_FI_DEV_GPU_UTIL gauge',
      'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-other"} 0',
      '# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter',
      `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-other"} ${1000 * read}`,
      '',
    ].join('\n');
  await foreignPage(host, 9400, gpu);
  const { targets, result, lines } = await run(url);
  expect(targets).toEqual([`vllm ${apiPort(url)}`]);
  expect(result.servers).toMatchObject({ gpu_energy: null });
  expect(lines).toContainEqual(expect.stringMatching(/dcgm at .*:9400.* are not used: nothing moved there/));
});

onLinux('--no-discovery sends nothing to other ports', async () => {
  const { url, seen } = await simulated('triton', 8002);
  const { targets, lines } = await run(url, ['--endpoint-type', 'triton_generate', '--no-discovery']);
  expect(targets).toEqual([]);
  expect(seen?.connections).toBe(0);
  expect(lines.join('\n')).toMatch(/HTTP 404.*--server-metrics triton=/);
});

onLinux('a page that is named on the host ends the search, and each port is requested once', async () => {
  const { url, seen, host } = await simulated('triton', 8002);
  const triton = ['--endpoint-type', 'triton_generate'];
  const { targets } = await run(url, [...triton, '--server-metrics', `triton=${host}`]);
  expect(targets).toEqual(['triton 8002']);
  const other = await simulated('vllm', 6880);
  await run(other.url);
  expect(other.seen?.connections).toBe(1);
  expect(seen?.connections).toBeGreaterThan(0);
});

onLinux('nothing is found: one line says what to enable', async () => {
  const { url } = await simulated('triton', null);
  const { targets, lines } = await run(url, ['--endpoint-type', 'triton_generate']);
  expect(targets).toEqual([]);
  expect(lines.filter((line) => /metrics of|no metrics page/.test(line))).toEqual([
    expect.stringMatching(
      /HTTP 404.*trying :8002, :29000, \/prometheus\/metrics, \/v1\/metrics, \/engine_metrics on this host$/,
    ),
    expect.stringMatching(/^no metrics page was found there; .*--enable-metrics/),
  ]);
});
