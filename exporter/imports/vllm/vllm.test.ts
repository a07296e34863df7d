import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { KEYED_MEASURES } from '../../../core/run/run.ts';
import { benchResultOf } from '../testing/bench-result.ts';
import {
  distributionOf,
  importedRun,
  importInto,
  inTemporaryFolder,
  measureOf,
  scalarOf,
} from '../testing/import-folder.ts';
import { benchRun } from './bench-run.ts';

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname;

type Result = Record<string, unknown>;

async function fixture(name: string): Promise<Result> {
  return JSON.parse(await readFile(join(FIXTURES, name), 'utf8')) as Result;
}

const run = async (value: Result, timeZone: string | null = null): ReturnType<typeof benchRun> =>
  benchRun(await benchResultOf(value), { timeZone });

const imported = <T>(name: string, look: (run: Awaited<ReturnType<typeof importedRun>>) => T): Promise<T> =>
  inTemporaryFolder(async (folder) => look(await importedRun(await importInto(folder, [join(FIXTURES, name)]))));

describe('a result of the completions backend with --save-detailed', () => {
  test('gives records with the times of the chunks, and the figures of the tool', () =>
    imported('detailed.json', ({ run, result, records }) => {
      expect(run).toMatchObject({
        tool: { name: 'vllm' },
        start: null,
        comparison_key: {
          endpoint_type: 'completions',
          model: 'mock-model',
          load: { mode: 'concurrency', concurrency: 4 },
          stop: { request_count: 12 },
        },
      });
      expect(run.run_id).toMatch(/^undated-/);
      expect(records).toHaveLength(12);
      expect(result.requests).toEqual({ ok: 12, error: 0, timeout: 0, cancelled: 0 });
      // mean_ttft_ms and p99_ttft_ms of the file.
      const ttft = distributionOf(result, 'time_to_first_token');
      expect(ttft.definition).toBe('sent_to_first_content_chunk');
      expect(ttft.mean).toBeCloseTo(0.03702463, 8);
      expect(ttft.percentiles.p99.value).toBeCloseTo(0.051238561, 8);
      expect(records.every(({ due_ns, sent_ns }) => due_ns !== null && due_ns <= sent_ns)).toBe(true);
    }));

  test('has the configuration that it has in a version with more measures', () =>
    imported('detailed.json', ({ run, result }) => {
      expect(result.measures.some(({ measure }) => measure === 'image_count')).toBe(true);
      const keyed = Object.keys(run.comparison_key.measure_definitions);
      // The limits of the tool's goodput are its own.
      expect(keyed.filter((name) => !KEYED_MEASURES.some((each) => each === name))).toEqual(['goodput']);
    }));

  test('is stored in at most 3.3 times its size', () =>
    inTemporaryFolder(async (folder) => {
      const { run } = await importedRun(await importInto(folder, [join(FIXTURES, 'detailed.json')]));
      const stored = join(folder, run.run_id);
      const files = await readdir(stored, { recursive: true, withFileTypes: true });
      const sizes = files.map(async (file) =>
        file.isFile() ? (await stat(join(file.parentPath, file.name))).size : 0,
      );
      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(bytes).toBeLessThanOrEqual(3.3 * (await stat(join(FIXTURES, 'detailed.json'))).size);
    }));

  test('the chunk that closes an answer is no chunk with content', async () => {
    const file = await fixture('detailed.json');
    const gaps = (file['itls'] as number[][]).map(({ length }) => length);
    expect(gaps).toEqual(Array<number>(12).fill(12));
    await imported('detailed.json', ({ run, result, records }) => {
      expect(records.map(({ chunk_offsets_ns }) => chunk_offsets_ns.length)).toEqual(Array<number>(12).fill(12));
      expect(distributionOf(result, 'inter_chunk_latency')).toMatchObject({
        n: 12 * 11,
        definition: 'gap_between_content_chunks',
      });
      expect(run.source?.notes).toContain(
        '12 answers ended with a chunk without a token, which the tool counts as a token: it is left out',
      );
      expect(run.source?.notes.filter((note) => note.startsWith('disagrees'))).toEqual([]);
    });
  });

  test('no text of an answer is kept', async () => {
    const { generated_texts } = await fixture('detailed.json');
    const [text] = generated_texts as string[];
    expect(text?.length).toBeGreaterThan(5);
    await imported('detailed.json', (all) => expect(JSON.stringify(all)).not.toContain(text));
  });

  test('a figure that its own values contradict is reported', async () => {
    const { notes } = await run({ ...(await fixture('detailed.json')), p90_ttft_ms: 1 });
    expect(notes.disagreements).toEqual([
      expect.stringMatching(/^ttft p90: the file states 0\.001 seconds, its own values/),
    ]);
  });

  test('a clock with a zone gives the start: the time of saving less the duration', async () => {
    const { start } = await run(
      { ...(await fixture('detailed.json')), date: '20250312-101112', duration: 2 },
      'Europe/Paris',
    );
    expect(start).toBe('2025-03-12T09:11:10.000Z');
  });
});

describe('a result of the chat backend', () => {
  test('keeps the definition of the first chunk, which may hold no token', async () => {
    const file = await fixture('chat-detailed.json');
    await imported('chat-detailed.json', ({ result, records }) => {
      const ttft = distributionOf(result, 'time_to_first_token');
      expect(ttft.definition).toBe('sent_to_first_chunk');
      expect(ttft.mean).toBeCloseTo(Number(file['mean_ttft_ms']) / 1000, 8);
      expect(ttft.percentiles.p99.value).toBeCloseTo(Number(file['p99_ttft_ms']) / 1000, 8);
      const tpot = distributionOf(result, 'inter_token_latency');
      expect(tpot.definition).toBe('per_request_mean_between_chunks_tokens_of_unknown_source');
      expect(tpot.mean).toBeCloseTo(Number(file['mean_tpot_ms']) / 1000, 8);
      expect(records[0]).toMatchObject({ first_content_ns: null, last_content_ns: null, chunk_offsets_ns: [] });
      expect(scalarOf(result, 'request_throughput').value).toBeGreaterThan(Number(file['request_throughput']));
    });
  });

  test('failed requests have a reason', () =>
    imported('chat-errors.json', ({ result, records }) => {
      expect(result.requests).toMatchObject({ ok: 6, error: 6 });
      expect(result.errors).toEqual({ http_5xx: 6 });
      expect(records.find(({ outcome }) => outcome === 'error')).toMatchObject({
        http_status: 503,
        output_tokens: null,
      });
    }));
});

describe('results without detail', () => {
  test('give what the summary reports, with its definitions', async () => {
    const file = await fixture('summary-only.json');
    await imported('summary-only.json', ({ result, records }) => {
      expect(records).toEqual([]);
      expect(result.requests).toEqual({ ok: 8, error: 0, timeout: null, cancelled: null });
      expect(result.window.seconds).toBe(file['duration']);
      expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
        definition: 'sent_to_first_content_chunk',
        mean: Number(file['mean_ttft_ms']) / 1000,
        std: Number(file['std_ttft_ms']) / 1000,
        min: null,
      });
      expect(distributionOf(result, 'inter_chunk_latency').definition).toBe('gap_between_chunks');
      // From `latencies`, which stays in the file.
      const latency = distributionOf(result, 'request_latency');
      const latencies = file['latencies'] as number[];
      expect(latency).toMatchObject({ definition: 'sent_to_last_chunk', n: 8, max: Math.max(...latencies) });
      expect(measureOf(result, 'request_throughput')).toMatchObject({
        definition: 'ok_requests_over_wall_time',
        value: file['request_throughput'],
      });
    });
  });

  test('several in a file are several runs', () =>
    inTemporaryFolder(async (folder) => {
      const { report } = await importInto(folder, [join(FIXTURES, 'appended.json')]);
      expect(report.outcomes.map(({ status }) => status)).toEqual(['imported', 'imported']);
      const again = await importInto(folder, [join(FIXTURES, 'appended.json')]);
      expect(again.report.outcomes.every(({ status }) => status === 'known')).toBe(true);
    }));

  test('a torn last line leaves the runs before it, and is reported', () =>
    inTemporaryFolder(async (folder) => {
      const [first = '', second = ''] = (await readFile(join(FIXTURES, 'appended.json'), 'utf8')).split('\n');
      await writeFile(join(folder, 'torn.json'), `${first}\n${second.slice(0, 200)}`);
      const all = await importInto(join(folder, 'runs'), [join(folder, 'torn.json')]);
      expect(all.report.outcomes).toHaveLength(1);
      const { run } = await importedRun(all);
      expect(run.source?.notes).toContain(
        'the last line (2) is incomplete and left out: the file was cut while it was written',
      );
    }));

  test('of a file to which a result was appended only that is new', () =>
    inTemporaryFolder(async (folder) => {
      const [first = '', second = ''] = (await readFile(join(FIXTURES, 'appended.json'), 'utf8')).split('\n');
      const path = join(folder, 'results.json');
      const outcomes = async (text: string): Promise<unknown> => {
        await writeFile(path, text);
        const { report } = await importInto(join(folder, 'runs'), [path]);
        return report.outcomes.map(({ name, status }) => `${name}: ${status}`);
      };
      expect(await outcomes(`${first}\n`)).toEqual(['results.json: imported']);
      expect(await outcomes(`${first}\n${second}\n`)).toEqual([
        'results.json (1): known',
        'results.json (2): imported',
      ]);
      expect(await outcomes(`${first}\n\n${second}`)).toEqual(['results.json (1): known', 'results.json (3): known']);
      expect(await outcomes(second)).toEqual(['results.json: known']);
    }));

  test('a line of which nothing fits, or whose gaps are no JSON, does not hold up the others', () =>
    inTemporaryFolder(async (folder) => {
      const [first = '', second = ''] = (await readFile(join(FIXTURES, 'appended.json'), 'utf8')).split('\n');
      const detailed = JSON.stringify(await fixture('detailed.json'));
      const wrong = detailed.replace(/("itls":\[\[[0-9.]+),/, '$1 x,');
      expect(wrong).not.toBe(detailed);
      await writeFile(join(folder, 'results.json'), `${first}\n${wrong}\n{"cut": [\n${second}\n`);
      const all = await importInto(join(folder, 'runs'), [join(folder, 'results.json')]);
      expect(all.report.outcomes).toMatchObject([
        { status: 'imported', name: 'results.json (1)' },
        { status: 'imported', name: 'results.json (4)' },
        { status: 'refused', reason: expect.stringMatching(/^results\.json \(2\): it is not JSON at byte \d+$/) },
      ]);
      expect((await importedRun(all, 1)).run.source?.notes).toContainEqual(
        expect.stringMatching(/^1 × lines left out: not JSON \(first: line 3: it is cut off at byte 9\)/),
      );
    }));

  test('a summary that does not report how many gaps there were leaves that unknown', () =>
    imported('summary-only.json', ({ result }) => {
      expect(distributionOf(result, 'inter_chunk_latency')).toMatchObject({ n: null, mean: expect.any(Number) });
    }));

  test('keys of older versions are read', async () => {
    // benchmark_serving.py of 2024: no `failed`, no `date` with zone, `input_throughput`.
    const { stated, key } = await run({
      date: '20240601-120000',
      backend: 'vllm',
      model_id: 'm',
      tokenizer_id: 'm',
      best_of: 1,
      use_beam_search: false,
      num_prompts: 10,
      request_rate: 4,
      duration: 5,
      completed: 10,
      total_input_tokens: 100,
      total_output_tokens: 50,
      request_throughput: 2,
      input_throughput: 20,
      output_throughput: 10,
      mean_ttft_ms: 40,
      median_ttft_ms: 30,
      p99_ttft_ms: 90,
    });
    expect(stated.requests).toEqual({ ok: 10, error: null, timeout: null, cancelled: null });
    expect(key).toMatchObject({ load: { mode: 'request_rate', request_rate: 4, arrival_pattern: null } });
    expect(stated.measures).toContainEqual(
      expect.objectContaining({ measure: 'input_token_throughput', value: 20, unit: 'tokens_per_second' }),
    );
    expect(stated.measures).toContainEqual(
      expect.objectContaining({ measure: 'time_to_first_token', n: 10, mean: 0.04, std: null }),
    );
  });
});

describe('a folder of `vllm bench sweep`', () => {
  test('is a group: a combination is a step, a repeat a repeat, and the summaries repeat them', () =>
    inTemporaryFolder(async (folder) => {
      const { report, store } = await importInto(folder, [join(FIXTURES, 'sweep')]);
      const ids = report.outcomes.flatMap((outcome) => (outcome.status === 'imported' ? [outcome.run_id] : []));
      const runs = await Promise.all(ids.map((id) => store.readRun(id)));
      expect(runs.map((each) => [each.step, each.repeat, each.comparison_key.load?.concurrency])).toEqual([
        [0, 0, 1],
        [0, 1, 1],
        [1, 0, 4],
        [1, 1, 4],
      ]);
      expect(new Set(runs.map((each) => each.group_id)).size).toBe(1);
      expect(runs.map(({ scenario }) => scenario)).toEqual(Array<string>(4).fill('sweep'));
    }));

  test('a summary alone gives the runs that it repeats', () =>
    inTemporaryFolder(async (folder) => {
      await mkdir(join(folder, 'only'));
      const summary = join(FIXTURES, 'sweep', 'BENCH--max_concurrency=1', 'summary.json');
      await copyFile(summary, join(folder, 'only', 'summary.json'));
      const { report } = await importInto(join(folder, 'runs'), [join(folder, 'only')]);
      expect(report.outcomes.map(({ status }) => status)).toEqual(['imported', 'imported']);
    }));

  test('warm-ups, failures and tables are passed over', () =>
    inTemporaryFolder(async (folder) => {
      const warmup = await readFile(join(FIXTURES, 'summary-only.json'), 'utf8');
      await writeFile(join(folder, 'warmup.json'), warmup);
      const failure = { run_number: 0, error_type: 'X', error: 'e', serve_overrides: {}, bench_overrides: {} };
      await writeFile(join(folder, 'run=0.failure.json'), JSON.stringify(failure));
      await writeFile(
        join(folder, 'summary.csv'),
        ',model_id,num_prompts,completed,request_throughput,run_number\n0,m,1,1,1,0\n',
      );
      const { report } = await importInto(join(folder, 'runs'), [folder]);
      expect(report).toMatchObject({ outcomes: [], passedOver: { length: 3 } });
    }));
});

describe('faults', () => {
  const SMALL: Result = {
    backend: 'vllm',
    model_id: 'm',
    num_prompts: 2,
    request_rate: 'inf',
    completed: 2,
    failed: 0,
    duration: 1,
    request_throughput: 2,
    input_lens: [3, 4],
    output_lens: [2, 3],
    ttfts: [0.1, 0.2],
    itls: [[0.05], [0.05, 0.06]],
    start_times: [10, 10.5],
    latencies: [0.15, 0.31],
    queue_times: [0, 0.25],
    errors: ['', ''],
  };

  const recordsOf = async (value: Result): Promise<unknown[]> => {
    const { records } = await run(value);
    const all: unknown[] = [];
    for await (const record of records ?? []) all.push(record);
    return all;
  };

  test('without a fault the times are those of the lists', async () => {
    expect(await recordsOf(SMALL)).toMatchObject([
      { due_ns: 0, sent_ns: 0, first_content_ns: 1e8, last_content_ns: 1.5e8, end_ns: 1.5e8, output_tokens: 2 },
      {
        due_ns: 2.5e8,
        sent_ns: 5e8,
        first_content_ns: 7e8,
        last_content_ns: 8.1e8,
        chunk_offsets_ns: [2e8, 2.5e8, 3.1e8],
      },
    ]);
  });

  test('lists of unequal length are not used', async () => {
    const { records, notes, stated } = await run({ ...SMALL, ttfts: [0.1], mean_ttft_ms: 150 });
    expect(records).toBeNull();
    expect(notes.disagreements[0]).toMatch(/not of one length \(input_lens 2, output_lens 2, ttfts 1/);
    expect(stated.measures).toContainEqual(expect.objectContaining({ measure: 'time_to_first_token', mean: 0.15 }));
  });

  test.each([
    ['a negative time', { ttfts: [-0.1, 0.2] }],
    ['NaN, which is read as null', { ttfts: [null, 0.2] }],
    ['a text', { latencies: ['0.15', 0.31] }],
    ['gaps that are no list', { itls: [0.05, [0.05, 0.06]] }],
    ['a gap that is no number', { itls: [['x'], [0.05, 0.06]] }],
    ['a negative count', { output_lens: [-2, 3] }],
  ])('a request with %s is left out and counted', async (_, fault) => {
    const value = { ...SMALL, ...fault };
    expect(await recordsOf(value)).toHaveLength(1);
    expect((await run(value)).notes.lines).toContain(
      '1 × requests left out: a time or a count that cannot be true (first: request 0)',
    );
  });

  test('a refusal without a reason phrase has failed all the same', async () => {
    const value = { ...SMALL, completed: 1, failed: 1, ttfts: [0, 0.2], itls: [[], [0.05, 0.06]], output_lens: [0, 3] };
    expect(await recordsOf(value)).toMatchObject([{ outcome: 'error', reason: 'other', first_content_ns: null }, {}]);
  });

  test('the zeros of a run without a success are no latencies', async () => {
    const zeros = { mean_ttft_ms: 0, median_ttft_ms: 0, p99_ttft_ms: 0, mean_itl_ms: 0 };
    const { stated } = await run({ backend: 'vllm', model_id: 'm', completed: 0, failed: 5, duration: 1, ...zeros });
    expect(stated.measures).toEqual([]);
    expect(stated.requests).toMatchObject({ ok: 0, error: 5 });
  });

  test('an unknown version gives what fits, and reports what does not', async () => {
    const { notes, stated } = await run({ ...SMALL, backend: 'vllm-9', brand_new: 1 });
    expect(notes.lines).toContain('not understood: brand_new');
    expect(stated.measures).toContainEqual(expect.objectContaining({ definition: 'sent_to_first_chunk', n: 2 }));
  });
});

test('the totals of tokens give the mean lengths where the file lists no requests', () =>
  imported('summary-only.json', async ({ result }) => {
    const { completed, total_input_tokens, total_output_tokens } = (await fixture('summary-only.json')) as Record<
      string,
      number
    >;
    expect(distributionOf(result, 'input_sequence_length')).toMatchObject({
      n: completed,
      definition: 'prompt_tokens_of_unknown_source',
      mean: (total_input_tokens ?? NaN) / (completed ?? NaN),
    });
    expect(distributionOf(result, 'output_sequence_length')).toMatchObject({
      n: completed,
      definition: 'completion_tokens_of_unknown_source',
      mean: (total_output_tokens ?? NaN) / (completed ?? NaN),
    });
  }));

test('a total that the listed requests contradict is reported', async () => {
  const file = await fixture('detailed.json');
  const { notes } = await run({ ...file, total_output_tokens: Number(file['total_output_tokens']) + 1 });
  expect(notes.disagreements).toEqual([expect.stringMatching(/^total_output_tokens: the file states/)]);
});

test('a result as InferenceX aggregates it: seconds, without counts', () =>
  inTemporaryFolder(async (folder) => {
    // The form of its process_result.py: times in seconds, interactivity as the inverse of TPOT, throughput per GPU.
    const aggregate = {
      hw: 'b200-trt',
      tp: 8,
      ep: 1,
      dp_attention: 'false',
      conc: 64,
      model: 'm/one',
      framework: 'trt',
      precision: 'fp8',
      tput_per_gpu: 1200,
      output_tput_per_gpu: 600,
      mean_ttft: 0.5,
      median_ttft: 0.4,
      std_ttft: 0.1,
      p99_ttft: 1.5,
      mean_tpot: 0.012,
      mean_intvty: 83.3,
      median_tpot: 0.011,
      median_intvty: 90.9,
      mean_itl: 0.013,
      median_itl: 0.0125,
      mean_e2el: 9,
      median_e2el: 8.5,
      p99_e2el: 14,
    };
    await writeFile(join(folder, 'agg_one.json'), JSON.stringify(aggregate, null, 2));
    const all = await importInto(join(folder, 'runs'), [join(folder, 'agg_one.json')]);
    const { run: file, result } = await importedRun(all);
    expect(file).toMatchObject({
      tool: { name: 'inferencex' },
      comparison_key: { model: 'm/one', load: { mode: 'concurrency', concurrency: 64 } },
      source: { format: 'inferencex-aggregate' },
    });
    expect(distributionOf(result, 'time_to_first_token')).toMatchObject({
      n: null,
      mean: 0.5,
      std: 0.1,
      percentiles: { p50: { value: 0.4 }, p99: { value: 1.5 } },
    });
    expect(distributionOf(result, 'inter_token_latency').percentiles.p50.value).toBe(0.011);
    expect(distributionOf(result, 'request_latency')).toMatchObject({ mean: 9 });
    expect(file.source?.notes).toContainEqual(expect.stringMatching(/per GPU/));
    expect(file.source?.notes.join()).not.toContain('not understood');
  }));

test('lists that are shorter than the completed requests give no figure: the summary does', async () => {
  const result = await fixture('detailed.json');
  const short = Object.fromEntries(
    Object.entries(result).map(([name, value]) => [name, Array.isArray(value) ? value.slice(0, 4) : value]),
  );
  const { stated, records } = await run(short);
  expect(records).toBeNull();
  expect(stated.requests.ok).toBe(12);
  const ttft = stated.measures.find(({ measure }) => measure === 'time_to_first_token');
  expect(ttft).toMatchObject({ n: 12, mean: expect.closeTo(Number(result['mean_ttft_ms']) / 1000, 9) });
});

test('a listed request that cannot be true makes the lists a sample: the figures are those of the summary', () =>
  inTemporaryFolder(async (folder) => {
    const result = (await fixture('detailed.json')) as Record<string, unknown> & { ttfts: number[] };
    const wrong = { ...result, ttfts: [-0.5, ...result.ttfts.slice(1)] };
    await writeFile(join(folder, 'wrong.json'), JSON.stringify(wrong));
    const all = await importInto(join(folder, 'runs'), [join(folder, 'wrong.json')]);
    const { run: file, result: stored } = await importedRun(all);
    expect(stored.requests.ok).toBe(12);
    expect(distributionOf(stored, 'time_to_first_token')).toMatchObject({
      n: 12,
      mean: expect.closeTo(Number(result['mean_ttft_ms']) / 1000, 9),
    });
    expect(distributionOf(stored, 'request_latency').mean).toBeCloseTo(Number(result['mean_e2el_ms']) / 1000, 9);
    expect(file.source?.notes).toContain('disagrees: the file states 12 ok requests, its lists contain 11');
    expect(file.source?.notes.filter((note) => note.startsWith('disagrees'))).toHaveLength(1);
  }));
