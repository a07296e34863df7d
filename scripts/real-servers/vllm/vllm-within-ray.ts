import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { responses, freePort, Processes } from '../processes.ts';
import type { RealServer } from '../real-server.ts';
import { ENGINE_ARGUMENTS, environment, MODEL, OFFLINE, START_SECONDS, vllm } from './vllm.ts';

const RAY_VERSION = '2.60.0';
const PROGRAM = fileURLToPath(new URL('within_ray.py', import.meta.url));

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
