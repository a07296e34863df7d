import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { responses, execute, freePort, Processes, PythonEnvironment } from '../processes.ts';
import type { RealServer } from '../real-server.ts';

/** The wheel bundles tritonserver 2.51.0. */
/** Of nvidia-pytriton, which contains the server. */
const VERSION = '0.7.0';
const RELEASE = '2.51.0';
const MODELS = fileURLToPath(new URL('models', import.meta.url));
const START_SECONDS = 120;

const environment = (folder: string): PythonEnvironment => new PythonEnvironment(join(folder, 'venv'));

export const triton: RealServer = {
  name: 'triton',
  description: `Triton ${RELEASE} of nvidia-pytriton ${VERSION}: server, batcher, response cache and Python backend; three small models`,
  catalogs: ['triton'],
  release: RELEASE,
  runArgs: ['--endpoint-type', 'triton_generate'],
  requests: { family: 'nv_inference_request_success', labels: { model: 'tokens' } },
  outputTokens: { family: 'demo_output_tokens', client: 'chunks' },

  async install(folder) {
    const python = environment(folder);
    await python.ensure(`nvidia-pytriton ${VERSION}`, { from: [3, 9], to: [3, 13] }, async () => {
      await python.install(`nvidia-pytriton==${VERSION}`);
      const server = await serverFolder(python);
      const version = 'import sys; print("%d.%d" % sys.version_info[:2])';
      const stub = join((await execute(python.python, ['-c', version])).trim(), 'triton_python_backend_stub');
      copyFileSync(
        join(server, 'python_backend_stubs', stub),
        join(server, 'backends/python/triton_python_backend_stub'),
      );
    });
  },

  async start({ folder, port, args }) {
    const python = environment(folder);
    const server = await serverFolder(python);
    const [grpcPort, metricsPort] = [await freePort(), await freePort()];
    const processes = new Processes(folder);
    processes.start(
      'tritonserver',
      join(server, 'bin/tritonserver'),
      [
        ...['--model-repository', MODELS, '--backend-directory', join(server, 'backends')],
        ...['--cache-directory', join(server, 'caches'), '--cache-config', 'local,size=1048576'],
        ...['--http-address', '127.0.0.1', '--http-port', String(port)],
        ...['--grpc-address', '127.0.0.1', '--grpc-port', String(grpcPort)],
        ...['--metrics-address', '127.0.0.1', '--metrics-port', String(metricsPort), '--metrics-interval-ms', '500'],
        ...['counter', 'summary', 'histogram'].flatMap((kind) => ['--metrics-config', `${kind}_latencies=true`]),
        ...['--allow-gpu-metrics', 'false', '--exit-on-error', 'true', ...args],
      ],
      {
        PATH: `${join(python.folder, 'bin')}:${process.env['PATH'] ?? ''}`,
        VIRTUAL_ENV: python.folder,
        // The models are read from the repository.
        PYTHONDONTWRITEBYTECODE: '1',
      },
    );
    const url = `http://127.0.0.1:${port}`;
    const metrics = `http://127.0.0.1:${metricsPort}/metrics`;
    await processes.ready(() => responses(`${url}/v2/health/ready`), START_SECONDS);
    return {
      addresses: [
        ['http', url],
        ['stream', `${url}/v2/models/tokens/generate_stream`],
        ['grpc', `127.0.0.1:${grpcPort}`],
        ['metrics', metrics],
      ],
      url,
      model: 'tokens',
      metrics: [metrics],
      ended: processes.ended,
      stop: () => processes.stop(),
    };
  },
};

async function serverFolder(python: PythonEnvironment): Promise<string> {
  const find = 'import importlib.util as u; print(u.find_spec("pytriton").submodule_search_locations[0])';
  return join((await execute(python.python, ['-c', find])).trim(), 'tritonserver');
}
