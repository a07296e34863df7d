import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { responses, execute, freePort, Processes, PythonEnvironment } from '../processes.ts';
import type { RealServer, RunningServer, StartOptions } from '../real-server.ts';

const VERSION = '1.6.1';
const MODEL = 'mock';
const START_SECONDS = 180;

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const environment = (folder: string): PythonEnvironment => new PythonEnvironment(join(folder, 'venv'));
const modelFolder = (folder: string): string => join(folder, 'model');
const loopbackBind = (folder: string): string => join(folder, 'loopback-bind.so');

export const dynamo: RealServer = {
  name: 'dynamo',
  description: `Dynamo ${VERSION}: frontend and KV router; two workers with its mock engine`,
  catalogs: ['dynamo', 'dynamo-router'],
  release: VERSION,
  runArgs: ['--ignore-eos'],
  requests: { family: 'dynamo_frontend_requests_total', labels: { status: 'success' } },
  outputTokens: { family: 'dynamo_frontend_output_tokens_total', client: 'usage' },
  sessions: true,

  async install(folder) {
    const python = environment(folder);
    await python.ensure(`ai-dynamo ${VERSION}`, { from: [3, 10], to: [3, 12] }, async () => {
      await python.install('--no-deps', `ai-dynamo==${VERSION}`, `ai-dynamo-runtime==${VERSION}`);
      await python.install('packaging');
      const requirements = join(folder, 'requirements.txt');
      writeFileSync(requirements, await execute(python.python, [file('requirements.py')]));
      await python.install('--requirement', requirements);
    });
    if (!existsSync(loopbackBind(folder))) {
      await execute('cc', ['-O2', '-shared', '-fPIC', '-o', loopbackBind(folder), file('loopback-bind.c'), '-ldl']);
    }
    // The configuration is written last.
    if (!existsSync(join(modelFolder(folder), 'config.json'))) {
      await execute(python.python, [file('make_model.py'), modelFolder(folder)]);
    }
  },

  start: (request) => serve(request, { worker1: [], worker2: [] }),
};

export const dynamoDisaggregated: RealServer = {
  ...dynamo,
  name: 'dynamo-disaggregated',
  description: 'Dynamo as above; one worker prefills, the other one decodes',
  start: (request) =>
    serve(request, { prefill: ['--disaggregation-mode', 'prefill'], decode: ['--disaggregation-mode', 'decode'] }),
};

/** `workers`: arguments of each one by its name. */
async function serve(
  { folder, port, args }: StartOptions,
  workers: Readonly<Record<string, readonly string[]>>,
): Promise<RunningServer> {
  const { python } = environment(folder);
  const processes = new Processes(folder);
  // A worker that was killed stays listed in this folder: begin with an empty one for each frontend.
  const discovery = join(folder, `discovery-${port}`);
  rmSync(discovery, { recursive: true, force: true });
  mkdirSync(discovery);
  const env = {
    ...{ DYN_DISCOVERY_BACKEND: 'file', DYN_FILE_KV: discovery, DYN_REQUEST_PLANE: 'tcp', DYN_EVENT_PLANE: 'zmq' },
    ...{ DYN_SYSTEM_HOST: '127.0.0.1', DYN_TCP_RPC_HOST: '127.0.0.1', DYN_EVENT_PLANE_HOST: '127.0.0.1' },
    // The name of an interface: it does not accept an address.
    DYN_TCP_RESPONSE_STREAM_HOST: 'lo',
    // The frontend reads configuration and tokenizer from the worker, not from a model hub.
    DYN_SELF_HOST_METADATA: '1',
    ...{ DYN_TOKENIZER_FALLBACK: 'false', HF_HUB_OFFLINE: '1', TRANSFORMERS_OFFLINE: '1' },
    LD_PRELOAD: loopbackBind(folder),
  };
  const names = Object.keys(workers);
  const workerPorts = await systemPorts(names.length);
  for (const [i, name] of names.entries()) {
    processes.start(
      name,
      python,
      [
        ...['-m', 'dynamo.mocker', '--model-path', modelFolder(folder), '--model-name', MODEL],
        ...(workers[name] ?? []),
        ...args,
      ],
      { ...env, DYN_SYSTEM_PORT: String(workerPorts[i]) },
    );
  }
  processes.start(
    'frontend',
    python,
    ['-m', 'dynamo.frontend', '--http-host', '127.0.0.1', '--http-port', String(port), '--router-mode', 'kv'],
    { ...env, DYN_SYSTEM_PORT: '-1' },
  );
  const url = `http://127.0.0.1:${port}`;
  await processes.ready(
    async () => (await registeredWorkers(url)) >= names.length && responses(`${url}/v1/models`, MODEL),
    START_SECONDS,
  );
  const pages = workerPorts.map((workerPort) => `http://127.0.0.1:${workerPort}/metrics`);
  return {
    addresses: [
      ['api', `${url}/v1`],
      ['metrics', `${url}/metrics`],
      ...pages.map((page, i): [string, string] => [names[i] ?? '', page]),
      ['tokenizer', modelFolder(folder)],
    ],
    url,
    model: MODEL,
    metrics: [`${url}/metrics`, ...pages],
    ended: processes.ended,
    async stop() {
      await processes.stop();
      rmSync(discovery, { recursive: true, force: true });
    },
  };
}

/** How many workers' endpoints are registered: the model is listed as soon as the first one is. */
async function registeredWorkers(url: string): Promise<number> {
  const health = await (await fetch(`${url}/health`, { signal: AbortSignal.timeout(5000) })).text();
  return health.split('"endpoint":"generate"').length - 1;
}

/** Free ports for the workers' pages, which Dynamo accepts up to 32767 only. */
async function systemPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  return freePort(port).then(
    () => true,
    () => false,
  );
}
