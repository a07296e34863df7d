import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { DistributionResult } from '../../../core/run/result.ts';
import { benchResultOf } from '../testing/bench-result.ts';
import { distributionOf, importedRun, importInto, inTemporaryFolder, scalarOf } from '../testing/import-folder.ts';
import { benchRun } from './sglang.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname;

type Line = Record<string, unknown>;

/** The lines of a fixture; Infinity, which Python writes, is null. */
async function lines(name: string): Promise<Line[]> {
  const text = await readFile(join(FIXTURES, name), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line.replaceAll('Infinity', 'null')) as Line);
}

const run = async (value: Line): ReturnType<typeof benchRun> => benchRun(await benchResultOf(value));

const measure = async (value: Line, name: string): Promise<DistributionResult | undefined> =>
  (await run(value)).stated.measures.find(
    (each): each is DistributionResult => each.kind === 'distribution' && each.measure === name,
  );

const ms = (line: Line | undefined, key: string): number => Number(line?.[key]) / 1000;

describe('output tokens that cannot be true', () => {
  /** Ten responses of 20 chunks each, 10 ms apart, whose text has 200 tokens. */
  const line = (outputLength: number, changes: Line = {}): Line => ({
    ...{
      backend: 'sglang',
      request_rate: null,
      max_concurrency: 1,
      duration: 4,
      completed: 10,
      request_throughput: 2.5,
    },
    ...{ total_input_tokens: 1000, total_output_tokens: 10 * outputLength, total_output_tokens_retokenized: 200 },
    ...{
      output_throughput: 2.5 * outputLength,
      total_throughput: 250 + 2.5 * outputLength,
      mean_ttft_ms: 100,
      mean_itl_ms: 10,
    },
    ...{ mean_tpot_ms: 190 / outputLength, mean_e2e_latency_ms: 290 },
    input_lens: Array<number>(10).fill(100),
    output_lens: Array<number>(10).fill(outputLength),
    ttfts: Array<number>(10).fill(0.1),
    itls: Array.from({ length: 10 }, () => Array<number>(19).fill(0.01)),
    errors: Array<string>(10).fill(''),
    ...changes,
  });
  const NO_LISTS = {
    input_lens: undefined,
    output_lens: undefined,
    ttfts: undefined,
    itls: undefined,
    errors: undefined,
  };

  test.each([
    ['one beside 19 gaps', line(1)],
    ['stuck at what was requested', line(128)],
    ['stuck near the true length', line(32)],
    ['one, without lists', line(1, NO_LISTS)],
    ['what was requested, without lists', line(128, NO_LISTS)],
  ])('%s: the tokens of the text, and no time per token', async (_name, value) => {
    const { stated } = await run(JSON.parse(JSON.stringify(value)) as Line);
    const found = (name: string) => stated.measures.find(({ measure }) => measure === name);
    expect(found('output_sequence_length')).toMatchObject({
      definition: 'tokenizer_completion_tokens',
      n: 10,
      mean: 20,
    });
    expect(found('output_token_throughput')).toMatchObject({
      definition: 'ok_tokenizer_output_tokens_over_wall_time',
      value: 50,
    });
    expect(found('inter_token_latency')).toBeUndefined();
    expect(found('total_token_throughput')).toBeUndefined();
    expect(found('time_to_first_token')).toMatchObject({ mean: expect.closeTo(0.1, 9) });
    expect(found('inter_chunk_latency')).toMatchObject({ mean: expect.closeTo(0.01, 9) });
  });

  test.each([
    ['the text has as many', line(20)],
    ['chunks hold several tokens, as with speculative decoding', line(60, { total_output_tokens_retokenized: 600 })],
    ['the last chunk holds none', line(19, { total_output_tokens_retokenized: 195 })],
  ])('are accepted where %s', async (_name, value) => {
    const { stated } = await run(JSON.parse(JSON.stringify(value)) as Line);
    const names = stated.measures.map(({ measure }) => measure);
    expect(names).toEqual(
      expect.arrayContaining(['inter_token_latency', 'output_token_throughput', 'total_token_throughput']),
    );
  });
});

describe('a line with --output-details', () => {
  test('gives exact latencies that end with the last chunk with content', async () => {
    const [line] = await lines('chat.jsonl');
    await inTemporaryFolder(async (folder) => {
      const all = await importInto(folder, [join(FIXTURES, 'chat.jsonl')]);
      const { run: file, result, records } = await importedRun(all);
      expect(file).toMatchObject({ start: null, comparison_key: { endpoint_type: 'chat', streaming: true } });
      expect(records).toEqual([]);
      expect(result.requests.ok).toBe(8);
      const ttft = distributionOf(result, 'time_to_first_token');
      expect(ttft).toMatchObject({ definition: 'sent_to_first_content_chunk', n: 8 });
      expect(ttft.mean).toBeCloseTo(ms(line, 'mean_ttft_ms'), 9);
      expect(ttft.percentiles.p99.value).toBeCloseTo(ms(line, 'p99_ttft_ms'), 9);
      const gaps = distributionOf(result, 'inter_chunk_latency');
      expect(gaps).toMatchObject({ definition: 'gap_between_content_chunks' });
      expect(gaps.percentiles.p95.value).toBeCloseTo(ms(line, 'p95_itl_ms'), 9);
      // The tool's latency goes on to the end of the response.
      const latency = distributionOf(result, 'request_latency');
      expect(latency.definition).toBe('sent_to_last_content_chunk');
      expect(latency.mean).toBeLessThan(ms(line, 'mean_e2e_latency_ms'));
      expect(scalarOf(result, 'request_throughput')).toMatchObject({
        definition: 'ok_requests_over_wall_time',
        value: line?.['request_throughput'],
      });
      expect(file.source?.notes.filter((note) => note.startsWith('disagrees'))).toEqual([]);
    });
  });

  test('the native endpoint spreads a gap over its tokens: that is another measure', async () => {
    const [line = {}] = await lines('native.jsonl');
    const gaps = await measure(line, 'inter_chunk_latency');
    expect(gaps?.definition).toBe('gap_spread_over_its_tokens');
    expect(gaps?.mean).toBeCloseTo(ms(line, 'mean_itl_ms'), 9);
  });

  test('with speculative decoding the summary of the gaps is no check of the list', async () => {
    const [line = {}] = await lines('chat.jsonl');
    const changed = { ...line, mean_itl_ms: 1, mean_ttft_ms: 1 };
    expect((await run(changed)).notes.disagreements).toHaveLength(2);
    expect((await run({ ...changed, accept_length: 2.5 })).notes.disagreements).toEqual([
      expect.stringMatching(/^ttft mean/),
    ]);
  });

  test('failed requests are counted with their reason and are in no latency', async () => {
    const [line = {}] = await lines('errors.jsonl');
    const { stated } = await run(line);
    expect(stated.requests).toMatchObject({ ok: 5, error: 3 });
    expect(stated.errors).toEqual({ http_5xx: 3 });
    expect((await measure(line, 'time_to_first_token'))?.n).toBe(5);
  });

  test('what was not streamed has no time to first token', async () => {
    const [line = {}] = await lines('chat.jsonl');
    const whole = { ...line, itls: (line['itls'] as number[][]).map(() => []), mean_itl_ms: 0, median_itl_ms: 0 };
    expect(await measure(whole, 'time_to_first_token')).toBeUndefined();
    expect((await run(whole)).key.streaming).toBe(false);
    expect((await measure(whole, 'request_latency'))?.definition).toBe('sent_to_end_of_answer');
  });

  test('no text of an answer and nothing of the server is kept', async () => {
    const [line = {}] = await lines('chat.jsonl');
    const [text] = line['generated_texts'] as string[];
    const server = { served_model_name: 'served', version: '0.5.23', api_key: 'secret-key' };
    const reported = await run({ ...line, server_info: server });
    expect(reported.key.model).toBe('served');
    expect(reported.target).toEqual({ origin: null, system: 'sglang', system_version: '0.5.23' });
    const kept = JSON.stringify([reported, reported.notes.lines]);
    expect(kept).not.toContain('secret-key');
    expect(kept).not.toContain(text);
  });
});

describe('a line without details', () => {
  test('gives the summary under the definitions of the tool', async () => {
    const [, line = {}] = await lines('chat.jsonl');
    expect((await run(line)).key.load).toMatchObject({ mode: 'request_rate', request_rate: 30, concurrency: 2 });
    const latency = await measure(line, 'request_latency');
    expect(latency).toMatchObject({ definition: 'sent_to_end_of_answer', mean: ms(line, 'mean_e2e_latency_ms') });
    expect(latency?.percentiles.p90.value).toBe(ms(line, 'p90_e2e_latency_ms'));
    expect((await measure(line, 'inter_token_latency'))?.definition).toBe(
      'per_request_mean_to_end_of_answer_tokens_of_unknown_source',
    );
  });

  test('names of early versions, which are milliseconds without saying it', async () => {
    const early = {
      backend: 'vllm',
      dataset_name: 'random',
      request_rate: 2,
      completed: 4,
      total_input: 40,
      total_output: 20,
      total_output_retokenized: 20,
      mean_e2e_latency: 500,
      median_e2e_latency: 480,
      median_ttft: 60,
      median_itl: 20,
      output_token_throughput: 10,
      sharegpt_output_len: null,
      random_input_len: 10,
      random_output_len: 5,
      random_range_ratio: 0,
      benchmark_duration: 2,
    };
    expect((await run(early)).stated.window_seconds).toBe(2);
    expect((await measure(early, 'request_latency'))?.mean).toBe(0.5);
    expect((await measure(early, 'time_to_first_token'))?.percentiles.p50.value).toBe(0.06);
    expect((await run(early)).notes.lines.filter((line) => line.startsWith('not understood'))).toEqual([]);
  });

  test('goodput carries its limits in its definition', async () => {
    const [, line = {}] = await lines('chat.jsonl');
    const good = { goodput_slos_ms: { ttft: 50, e2el: 200 }, request_goodput: 1.5, slo_attainment: 0.75 };
    const { stated, notes } = await run({ ...line, ...good, slo_attainment_by_metric: { ttft: 1, e2el: 0.75 } });
    expect(stated.measures).toContainEqual(
      expect.objectContaining({ definition: 'good_requests_over_wall_time[e2el<=200,ttft<=50]', value: 1.5 }),
    );
    expect(stated.measures).toContainEqual(
      expect.objectContaining({ definition: 'good_over_sent[e2el<=200,ttft<=50]', value: 0.75 }),
    );
    expect(notes.lines.filter((each) => each.startsWith('not understood'))).toEqual([]);
  });

  test('no success: no latency', async () => {
    const { stated } = await run({
      backend: 'sglang',
      completed: 0,
      duration: 1,
      mean_ttft_ms: 0,
      mean_e2e_latency_ms: null,
    });
    expect(stated.measures).toEqual([]);
  });

  test('of which nothing fits is refused with its place', () =>
    inTemporaryFolder(async (folder) => {
      const [line = ''] = (await readFile(join(FIXTURES, 'chat.jsonl'), 'utf8')).split('\n');
      await writeFile(join(folder, 'cut.jsonl'), line.slice(0, 900));
      const { report } = await importInto(join(folder, 'runs'), [join(folder, 'cut.jsonl')]);
      expect(report.outcomes).toMatchObject([{ status: 'refused', tool: 'sglang' }]);
    }));
});

test('lists that are shorter than the completed requests give no figure: the summary does', async () => {
  const [line = {}] = await lines('chat.jsonl');
  const short = Object.fromEntries(
    Object.entries(line).map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, 4) : value]),
  );
  const { stated, notes } = await run(short);
  expect(stated.requests).toMatchObject({ ok: 8, error: null });
  expect((await measure(short, 'time_to_first_token'))?.n).toBe(8);
  expect((await measure(short, 'time_to_first_token'))?.mean).toBeCloseTo(ms(line, 'mean_ttft_ms'), 9);
  expect(notes.lines.join('\n')).toContain('the lists hold 4 of 8 ok requests: only the summary is used');
});

test('a listed request that cannot be true makes the lists a sample: the figures are those of the summary', async () => {
  const [line = {}] = await lines('chat.jsonl');
  const ttfts = line['ttfts'] as readonly number[];
  const wrong = { ...line, ttfts: [-0.5, ...ttfts.slice(1)] };
  expect((await run(wrong)).stated.requests.ok).toBe(8);
  expect(await measure(wrong, 'time_to_first_token')).toMatchObject({
    n: 8,
    mean: expect.closeTo(ms(line, 'mean_ttft_ms'), 9),
  });
});
