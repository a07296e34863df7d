import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { distributionOf, importedRun, importInto, inTemporaryFolder } from '../testing/import-folder.ts';

/** A row in the form of its `process_result.py` for servers on several nodes. */
const ROW = {
  ...{
    hw: 'gb200',
    conc: 64,
    image: 'x:1',
    model: 'm/one',
    infmax_model_prefix: 'm',
    framework: 'trt',
    precision: 'fp8',
  },
  ...{ spec_decoding: 'none', disagg: true, isl: 1024, osl: 1024, is_multinode: true },
  ...{ prefill_tp: 4, prefill_ep: 4, prefill_dp_attention: 'true', prefill_num_workers: 1, num_prefill_gpu: 4 },
  ...{ decode_tp: 8, decode_ep: 8, decode_dp_attention: 'true', decode_num_workers: 1, num_decode_gpu: 8 },
  ...{ tput_per_gpu: 1200, output_tput_per_gpu: 600, input_tput_per_gpu: 600 },
  ...{ mean_ttft: 0.5, median_ttft: 0.4, p99_ttft: 1.5, mean_tpot: 0.012, mean_intvty: 83.3 },
};

test('the list of all results of a workflow: each is a run', () =>
  inTemporaryFolder(async (folder) => {
    const rows = [ROW, { ...ROW, conc: 128, mean_ttft: 0.9 }];
    await writeFile(join(folder, 'agg_bmk.json'), JSON.stringify(rows, null, 2));
    const all = await importInto(join(folder, 'runs'), [join(folder, 'agg_bmk.json')]);
    expect(all.report.outcomes).toMatchObject([{ tool: 'inferencex' }, { tool: 'inferencex' }]);
    const [first, second] = [await importedRun(all), await importedRun(all, 1)];
    expect(first.run.comparison_key).toMatchObject({ model: 'm/one', load: { concurrency: 64 } });
    expect(second.run.comparison_key).toMatchObject({ model: 'm/one', load: { concurrency: 128 } });
    expect(distributionOf(first.result, 'time_to_first_token').mean).toBe(0.5);
    expect(distributionOf(second.result, 'time_to_first_token').mean).toBe(0.9);
    expect(first.run.source?.notes.join()).not.toContain('not understood');
    const again = await importInto(join(folder, 'runs'), [join(folder, 'agg_bmk.json')]);
    expect(again.report.outcomes).toMatchObject([{ status: 'known' }, { status: 'known' }]);
  }));

test('percentiles in two units, and a negative one, are not shown as right', () =>
  inTemporaryFolder(async (folder) => {
    const row = { ...ROW, median_ttft: 400, p90_ttft: -1 };
    await writeFile(join(folder, 'agg.json'), JSON.stringify(row));
    const all = await importInto(join(folder, 'runs'), [join(folder, 'agg.json')]);
    expect(all.report.outcomes).toMatchObject([{ status: 'imported', disagreements: 1 }]);
    const { run, result } = await importedRun(all);
    expect(distributionOf(result, 'time_to_first_token').percentiles.p90.value).toBeNull();
    expect(run.source?.notes).toContain(
      'disagrees: time_to_first_token: the file states p50 400, above p99 1.5 seconds',
    );
  }));

describe('a result of its copy of the tool, before it is aggregated: latencies without a unit in their names', () => {
  const result = (changes: object): object => ({
    ...{ backend: 'vllm', model_id: 'm/one', num_prompts: 100, completed: 100, duration: 60, request_throughput: 1.7 },
    ...{ median_ttft: 0.4, p99_ttft: 1.5, median_tpot: 0.012, median_itl: 0.011, p99_e2el: 13, mean_intvty: 83 },
    ...changes,
  });

  test.each([
    ['seconds', result({})],
    [
      'milliseconds, which a time per token shows',
      result({ median_ttft: 400, p99_ttft: 1500, median_tpot: 12, median_itl: 11, p99_e2el: 13_000 }),
    ],
  ])('are %s', (_name, value) =>
    inTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'raw.json'), JSON.stringify(value));
      const { run, result: found } = await importedRun(
        await importInto(join(folder, 'runs'), [join(folder, 'raw.json')]),
      );
      expect(distributionOf(found, 'time_to_first_token').percentiles).toMatchObject({
        ...{ p50: { value: expect.closeTo(0.4, 9) }, p99: { value: expect.closeTo(1.5, 9) } },
      });
      expect(distributionOf(found, 'inter_token_latency').percentiles.p50.value).toBeCloseTo(0.012, 9);
      expect(distributionOf(found, 'request_latency').percentiles.p99.value).toBeCloseTo(13, 9);
      expect(run.source?.notes.join()).not.toContain('not understood');
    }),
  );

  test('are not guessed without a time per token', () =>
    inTemporaryFolder(async (folder) => {
      const unknown = { median_tpot: undefined, median_itl: undefined };
      await writeFile(join(folder, 'raw.json'), JSON.stringify(result(unknown)));
      const { run, result: found } = await importedRun(
        await importInto(join(folder, 'runs'), [join(folder, 'raw.json')]),
      );
      expect(found.measures.map(({ measure }) => measure)).not.toContain('time_to_first_token');
      expect(run.source?.notes).toContain(
        'latencies left out: their names have no unit, and no time per token shows it',
      );
    }));
});
