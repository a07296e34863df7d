import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { responses, freePort, Processes, PythonEnvironment } from '../processes.ts';
import type { RealServer } from '../real-server.ts';

const WORKER = fileURLToPath(new URL('worker.py', import.meta.url));
const MODEL = 'tiny';
const START_SECONDS = 120;

/** One of the two packages that hold SGLang's gateway. */
interface Package {
  readonly name: string;
  readonly version: string;
  readonly module: string;
  readonly description: string;
}

export const smg = gateway({
  name: 'smg',
  version: '1.13.0',
  module: 'smg.launch_router',
  description: "SGLang's standalone gateway",
});

export const sglangRouter = gateway({
  name: 'sglang-router',
  version: '0.3.2',
  module: 'sglang_router.launch_router',
  description: 'the gateway of the SGLang tree',
});

function gateway({ name, version, module, description }: Package): RealServer {
  const environment = (folder: string): PythonEnvironment => new PythonEnvironment(join(folder, 'venv'));
  return {
    name,
    description: `${name} ${version}: ${description}; its two workers are small programs`,
    catalogs: ['smg'],
    release: version,
    runArgs: [],
    requests: { family: 'smg_router_requests_total' },
    // The gateway counts tokens of gRPC workers only.
    outputTokens: null,

    async install(folder) {
      const python = environment(folder);
      await python.ensure(`${name} ${version}`, { from: [3, 9], to: [3, 14] }, () =>
        python.install(`${name}==${version}`),
      );
    },

    async start({ folder, port, args }) {
      const { python } = environment(folder);
      const processes = new Processes(folder);
      const workers = await Promise.all([freePort(), freePort()]);
      for (const [i, workerPort] of workers.entries()) {
        processes.start(`worker${i + 1}`, python, [WORKER, String(workerPort), MODEL]);
      }
      const workerUrls = workers.map((workerPort) => `http://127.0.0.1:${workerPort}`);
      const metricsPort = await freePort();
      processes.start('gateway', python, [
        ...['-m', module, '--host', '127.0.0.1', '--port', String(port)],
        ...['--prometheus-host', '127.0.0.1', '--prometheus-port', String(metricsPort)],
        ...['--worker-urls', ...workerUrls, '--health-check-interval-secs', '2', ...args],
      ]);
      const url = `http://127.0.0.1:${port}`;
      const metrics = `http://127.0.0.1:${metricsPort}/metrics`;
      // 200 with a model only once a worker is healthy.
      await processes.ready(() => responses(`${url}/v1/models`, '"id"'), START_SECONDS);
      return {
        addresses: [
          ['api', `${url}/v1`],
          ['metrics', metrics],
          ...workerUrls.map((workerUrl, i): [string, string] => [`worker ${i + 1}`, workerUrl]),
        ],
        url,
        model: MODEL,
        metrics: [metrics],
        ended: processes.ended,
        stop: () => processes.stop(),
      };
    },
  };
}
