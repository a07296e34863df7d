import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runBenchmark } from '../exporter/library/index.ts';
import { startSimulator } from '../simulator/main.ts';
import type { RunningSimulator, SimulatedSystem } from '../simulator/main.ts';

const REQUESTS = 8;
const OUTPUT_TOKENS = 6;

/** Types that generate nothing. A reranker reads this many documents by default, each with the query. */
const READS: ReadonlySet<string> = new Set(['embeddings', 'pooling', 'score', 'rerank', 'nim_ranking']);
const DOCUMENTS = 10;

/** Of each system: the types that the real one has, and where its engine counts the tokens. */
const SYSTEMS = {
  vllm: {
    types: ['chat', 'completions', 'responses', 'messages', 'embeddings', 'pooling', 'score', 'rerank', 'nim_ranking'],
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

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

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
      const { result, failure } = await runBenchmark({
        ...{ url: simulator.url, model: 'sim-model', endpointType: type, runsDir },
        ...{ concurrency: 3, requestCount: REQUESTS, isl: 20, osl: OUTPUT_TOKENS },
      });
      expect(failure).toBeNull();
      expect(result.requests).toEqual({ ok: REQUESTS, error: 0, timeout: 0, cancelled: 0 });

      const reported = (measure: string): number => {
        const found = result.measures.find((each) => each.measure === measure);
        return found?.kind === 'distribution' && found.n !== null ? found.n * (found.mean ?? 0) : NaN;
      };
      const input = reported('input_sequence_length');
      const output = reported('output_sequence_length');
      expect(output).toBe(READS.has(type) ? 0 : REQUESTS * OUTPUT_TOKENS);
      // The first of them are of the probe: the engine counts it, the result does not.
      const documents = ['score', 'rerank', 'nim_ranking'].includes(type) ? DOCUMENTS : 1;
      const all = (await accepted()).slice(before.accepted.length);
      const [probe, measured] = [all.slice(0, documents), all.slice(documents)];
      expect(measured).toHaveLength(REQUESTS * documents);
      expect(sum(measured.map((each) => each.prompt_tokens))).toBe(input);
      const gained = async (family: string, was: number): Promise<number> => (await counted(family)) - was;
      if (prompt !== null)
        expect(await gained(prompt, before.prompt)).toBe(input + sum(probe.map((each) => each.prompt_tokens)));
      expect(await gained(generated, before.generated)).toBe(output + sum(probe.map((each) => each.output_tokens)));
    },
  );
});

describe.each([
  ['tei_rerank', 'vllm'],
  ['kserve_infer', 'triton'],
] as const)('--endpoint-type %s, whose API counts no tokens', (endpointType, system) => {
  test('every request is ok, and has a latency', async () => {
    const simulator = await startSimulator({ system, workers: 1 });
    const runsDir = await mkdtemp(join(tmpdir(), 'llmbench-endpoints-'));
    try {
      const { result, run } = await runBenchmark({
        ...{ url: simulator.url, model: 'sim-model', endpointType, runsDir },
        ...{ concurrency: 3, requestCount: REQUESTS, isl: 20, osl: OUTPUT_TOKENS },
      });
      expect(result.requests).toEqual({ ok: REQUESTS, error: 0, timeout: 0, cancelled: 0 });
      expect(run.comparison_key).toMatchObject({ endpoint_type: endpointType, streaming: false });
      const countOf = (name: string): number | null | undefined => {
        const found = result.measures.find(({ measure, clock }) => measure === name && clock === 'sent');
        return found?.kind === 'distribution' ? found.n : undefined;
      };
      expect(countOf('request_latency')).toBe(REQUESTS);
      expect(countOf('time_to_first_token')).toBe(0);
      expect(countOf('inter_token_latency')).toBe(0);
      const documents = result.measures.find(({ measure }) => measure === 'document_throughput');
      expect(documents?.kind === 'scalar' && documents.value !== null).toBe(endpointType === 'tei_rerank');
    } finally {
      await simulator.close();
      await rm(runsDir, { recursive: true, force: true });
    }
  });
});
