import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResultFile } from '../core/run/result.ts';
import { startSimulator } from '../simulator/main.ts';
import type { RunningSimulator, SimulatedSystem } from '../simulator/main.ts';
import { llmbench } from './llmbench.ts';

const REQUESTS = 8;
const OUTPUT_TOKENS = 6;

/** Of each system: the types that the real one has, and where its engine counts the tokens. */
const SYSTEMS = {
  vllm: {
    types: ['chat', 'completions', 'responses', 'messages', 'embeddings'],
    prompt: 'vllm:prompt_tokens_total',
    generated: 'vllm:generation_tokens_total',
  },
  sglang: {
    types: ['chat', 'completions', 'messages', 'sglang_generate', 'embeddings'],
    prompt: 'sglang:prompt_tokens_total',
    generated: 'sglang:generation_tokens_total',
  },
  trtllm: {
    types: ['chat', 'completions', 'responses'],
    prompt: 'trtllm_prompt_tokens_total',
    generated: 'trtllm_generation_tokens_total',
  },
  dynamo: {
    types: ['chat', 'completions', 'responses', 'embeddings'],
    prompt: null,
    generated: 'dynamo_frontend_output_tokens_total',
  },
} as const satisfies Partial<Record<SimulatedSystem, object>>;

describe.each(Object.keys(SYSTEMS) as (keyof typeof SYSTEMS)[])('%s', (system) => {
  const { types, prompt, generated } = SYSTEMS[system];
  let simulator: RunningSimulator;
  let runsDir: string;

  beforeAll(async () => {
    simulator = await startSimulator({ system, workers: 1 });
    runsDir = await mkdtemp(join(tmpdir(), 'llmbench-endpoints-'));
  });
  afterAll(async () => {
    await simulator.close();
    await rm(runsDir, { recursive: true, force: true });
  });

  /** Over all series of a counter; 0 as long as the page has none. */
  async function counted(family: string | null): Promise<number> {
    const lines = (await (await fetch(simulator.metricsUrl)).text()).split('\n');
    const values = lines.flatMap((line) =>
      family !== null && line.startsWith(`${family}{`) ? [Number(line.split(' ').at(-1))] : [],
    );
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** What the server accepted so far, in its order. */
  async function accepted(): Promise<readonly { prompt_tokens: number; output_tokens: number }[]> {
    const truth = (await (await fetch(simulator.truthUrl)).json()) as { requests: [] };
    return truth.requests;
  }

  test.each(types)(
    '--endpoint-type %s: every request is ok, and has the tokens that the engine counts',
    async (type) => {
      const before = { prompt: await counted(prompt), generated: await counted(generated), accepted: await accepted() };
      const load = ['--concurrency', '3', '--request-count', `${REQUESTS}`, '--isl', '20', '--osl', `${OUTPUT_TOKENS}`];
      const target = ['--url', simulator.url, '--model', 'sim-model', '--endpoint-type', type, '--runs-dir', runsDir];
      const { code, stdout, stderr } = await llmbench('run', ...target, ...load, '--json');
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      const result = JSON.parse(stdout) as ResultFile;
      expect(result.requests).toEqual({ ok: REQUESTS, error: 0, timeout: 0, cancelled: 0 });

      const reported = (measure: string): number => {
        const found = result.measures.find((each) => each.measure === measure);
        return found?.kind === 'distribution' && found.n !== null ? found.n * (found.mean ?? 0) : NaN;
      };
      const input = reported('input_sequence_length');
      const output = reported('output_sequence_length');
      expect(output).toBe(type === 'embeddings' ? 0 : REQUESTS * OUTPUT_TOKENS);
      // The first of them is the probe: the engine counts it, the result does not.
      const [probe, ...measured] = (await accepted()).slice(before.accepted.length);
      expect(measured).toHaveLength(REQUESTS);
      expect(measured.reduce((sum, { prompt_tokens }) => sum + prompt_tokens, 0)).toBe(input);
      const gained = async (family: string, was: number): Promise<number> => (await counted(family)) - was;
      if (prompt !== null) expect(await gained(prompt, before.prompt)).toBe(input + (probe?.prompt_tokens ?? NaN));
      expect(await gained(generated, before.generated)).toBe(output + (probe?.output_tokens ?? NaN));
    },
  );
});
