import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { distributionOf, importedRun, importInto, inTemporaryFolder, scalarOf } from '../testing/import-folder.ts';

// The form of perf_analyzer's export; times in nanoseconds since 1970.
const START = 1_700_000_000_000_000_000n;
const MS = 1_000_000n;

const chunk = (delta: object, more: object = {}): { response: string } => ({
  response: `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`,
});
const DONE = { response: 'data: [DONE]\n\n' };

/** JSON with the times as whole numbers, which JavaScript's numbers cannot hold. */
function text(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `@${each}@` : each)).replace(
    /"@(\d+)@"/g,
    '$1',
  );
}

const request = (sentMs: number, stampsMs: readonly number[], outputs: readonly object[]): object => ({
  timestamp: START + BigInt(sentMs) * MS,
  request_inputs: { payload: '{"messages":[],"model":"llama-2-7b","stream":true,"max_tokens":3}' },
  response_timestamps: stampsMs.map((at) => START + BigInt(at) * MS),
  response_outputs: outputs,
});

const HELLO = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'I' }), chunk({ content: ' like' })];
const USAGE = { usage: { prompt_tokens: 7, completion_tokens: 3 } };

const profile = (...experiments: readonly object[]): string =>
  text({ service_kind: 'openai', endpoint: 'v1/chat/completions', experiments, version: '2.60.0' });

const ONE = {
  experiment: { mode: 'concurrency', value: 4 },
  requests: [
    // The role's chunk comes at 30 ms, the first text at 50 ms.
    request(0, [30, 50, 70, 110, 111], [...HELLO, chunk({ content: ' dogs' }, USAGE), DONE]),
    request(10, [20, 60, 80, 90, 90], [...HELLO, chunk({ content: ' cats' }, USAGE), DONE]),
    request(15, [25], [{ response: 'data: {"error":{"message":"overloaded"}}\n\n' }]),
  ],
};

test('requests with their responses: times begin with the first text, tokens are the server’s', () =>
  inTemporaryFolder(async (folder) => {
    await writeFile(join(folder, 'profile_export.json'), profile(ONE));
    const { run, result, records } = await importedRun(await importInto(join(folder, 'runs'), [folder]));
    expect(run).toMatchObject({
      start: '2023-11-14T22:13:20.000Z',
      tool: { name: 'genai-perf', version: '2.60.0' },
      comparison_key: {
        model: 'llama-2-7b',
        endpoint_type: 'chat',
        streaming: true,
        load: { mode: 'concurrency', concurrency: 4 },
      },
      source: { format: 'perf-analyzer-profile' },
    });
    expect(result.requests).toEqual({ ok: 2, error: 1, timeout: 0, cancelled: 0 });
    expect(result.errors).toEqual({ error_event: 1 });
    const ttft = distributionOf(result, 'time_to_first_token');
    expect(ttft).toMatchObject({ n: 2, min: 0.05, max: 0.05 });
    expect(distributionOf(result, 'request_latency')).toMatchObject({ max: 0.11, min: 0.08 });
    // (110 − 50) ÷ 2 and (90 − 60) ÷ 2 ms.
    expect(distributionOf(result, 'inter_token_latency')).toMatchObject({ definition: 'per_request_mean_from_usage' });
    expect(distributionOf(result, 'inter_token_latency').mean).toBeCloseTo(0.0225, 9);
    expect(distributionOf(result, 'inter_chunk_latency').n).toBe(4);
    expect(records[0]).toMatchObject({ input_tokens: 7, output_tokens: 3, requested_output_tokens: 3 });
    expect(records[0]?.chunk_offsets_ns).toEqual([50_000_000, 70_000_000, 110_000_000]);
  }));

test('several loads in one file are several runs of one group', () =>
  inTemporaryFolder(async (folder) => {
    const two = { ...ONE, experiment: { mode: 'request_rate', value: 2.5 } };
    await writeFile(join(folder, 'profile_export.json'), profile(ONE, two));
    const runs = join(folder, 'runs');
    const first = await importInto(runs, [folder]);
    expect(first.report.outcomes).toHaveLength(2);
    const { run } = await importedRun(first, 1);
    expect(run.comparison_key.load).toMatchObject({ mode: 'request_rate', request_rate: 2.5 });
    expect(run.step).toBe(1);
    const again = await importInto(runs, [folder]);
    expect(again.report.outcomes.map(({ status }) => status)).toEqual(['known', 'known']);
  }));

const metric = (unit: string, avg: number, more: object = {}): object => ({ unit, avg, ...more });
const SUMMARY = {
  request_throughput: metric('requests/sec', 2.5),
  request_count: metric('count', 40),
  time_to_first_token: metric('ms', 33.5, { p50: 30, p99: 90, min: 10, max: 95, std: 4 }),
  inter_token_latency: metric('ms', 12),
  output_sequence_length: metric('tokens', 128),
  output_token_throughput: metric('tokens/sec', 320),
  brand_new_metric: metric('furlongs', 1),
  input_config: {
    model: ['m/one'],
    endpoint_type: 'chat',
    streaming: true,
    concurrency: 10,
    url: 'user:secret@host:9000/v1?key=1',
  },
};

test('a summary alone: its figures with its own definitions, and what was not understood', () =>
  inTemporaryFolder(async (folder) => {
    await writeFile(join(folder, 'profile_export_genai_perf.json'), JSON.stringify(SUMMARY));
    const { run, result } = await importedRun(await importInto(join(folder, 'runs'), [folder]));
    expect(run.start).toBeNull();
    expect(run.target.origin).toBe('http://host:9000');
    expect(JSON.stringify(run)).not.toContain('secret');
    expect(run.comparison_key).toMatchObject({ model: 'm/one', load: { concurrency: 10 } });
    expect(result.requests.ok).toBe(40);
    expect(distributionOf(result, 'time_to_first_token')).toMatchObject({ n: 40, mean: 0.0335, max: 0.095 });
    expect(distributionOf(result, 'inter_token_latency').definition).toBe('per_request_mean_from_tokenizer');
    expect(scalarOf(result, 'request_throughput').value).toBe(2.5);
    expect(run.source?.notes).toContain('not understood: brand_new_metric');
  }));

test('its CSV', () =>
  inTemporaryFolder(async (folder) => {
    const csv = [
      'Metric,avg,min,max,p99,p95,p90,p75,p50,p25,p10,p5,p1',
      'Time To First Token (ms),"1,033.50",10.00,95.00,90.00,80,70,60,50,40,30,20,11',
      '',
      'Metric,Value',
      'Request Count (count),40.00',
      'Request Throughput (per sec),2.50',
      '',
    ].join('\r\n');
    await mkdir(join(folder, 'csv'));
    await writeFile(join(folder, 'csv', 'profile_export_genai_perf.csv'), csv);
    const { result } = await importedRun(await importInto(join(folder, 'runs'), [join(folder, 'csv')]));
    expect(distributionOf(result, 'time_to_first_token')).toMatchObject({ n: 40, mean: 1.0335 });
    expect(scalarOf(result, 'request_throughput').value).toBe(2.5);
  }));

test('a mean whose count is not stated is a mean without a count; one with N/A as average keeps its other figures', () =>
  inTemporaryFolder(async (folder) => {
    const summary = { ...SUMMARY, request_count: undefined };
    await writeFile(join(folder, 'profile_export_genai_perf.json'), JSON.stringify(summary));
    const { result } = await importedRun(await importInto(join(folder, 'runs'), [folder]));
    expect(distributionOf(result, 'output_sequence_length')).toMatchObject({ n: null, mean: 128 });
    const csv = [
      'Metric,avg,min,max,p99,p95,p90,p75,p50,p25,p10,p5,p1',
      'Time To First Token (ms),N/A,10.00,95.00,90.00,80,70,60,50,40,30,20,11',
      'Inter Token Latency (ms),N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A',
      '',
    ].join('\r\n');
    await mkdir(join(folder, 'csv'));
    await writeFile(join(folder, 'csv', 'profile_export_genai_perf.csv'), csv);
    const table = await importedRun(await importInto(join(folder, 'other'), [join(folder, 'csv')]));
    expect(distributionOf(table.result, 'time_to_first_token')).toMatchObject({ n: null, mean: null, max: 0.095 });
    expect(table.result.measures.map(({ measure }) => measure)).not.toContain('inter_token_latency');
    expect(table.run.source?.notes.join()).not.toContain('not understood');
  }));
