import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { capturePath } from '../../fixtures/captures.ts';
import { importInto, inTemporaryFolder } from './testing/import-folder.ts';

const FIXTURES = new URL('.', import.meta.url).pathname;
const AIPERF = capturePath('dynamo/a-steady-c8/aiperf');
const SERVERS = capturePath('dynamo/a-steady-c8/aiperf-server-metrics');

/** Copies a file and folders, unpacked, and gives the file another text. Returns what the import of the copies says. */
async function importOfChanged(file: string, change: (text: string) => string, others: readonly string[] = []) {
  return inTemporaryFolder(async (folder) => {
    const copy = join(folder, 'results');
    await mkdir(copy);
    const inFolders = others.map(async (other) => (await readdir(other)).map((name) => join(other, name)));
    for (const path of [file, ...(await Promise.all(inFolders)).flat()]) {
      const bytes = await readFile(path);
      await writeFile(join(copy, basename(path, '.gz')), path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
    }
    const changed = join(copy, basename(file, '.gz'));
    const before = await readFile(changed, 'utf8');
    const after = change(before);
    expect(after).not.toBe(before);
    await writeFile(changed, after);
    const { report, store } = await importInto(join(folder, 'runs'), [copy]);
    const refused = report.outcomes.flatMap((each) => (each.status === 'refused' ? [each.reason] : []));
    return { refused, runs: await store.runIds(), name: basename(changed) };
  });
}

/** The member that begins with the key, a second time with the value 1. */
const again =
  (key: string) =>
  (text: string): string =>
    text.replace(new RegExp(`(["']?)${key}\\1: ?`), `"${key}": 1, $&`);

describe('a key that a file has twice is refused by name and place, in every format', () => {
  test.each([
    ['aiperf summary', join(AIPERF, 'profile_export_aiperf.json'), 'time_to_first_token', 'character'],
    ['aiperf records', join(AIPERF, 'profile_export.jsonl.gz'), 'request_start_ns', 'line 1: '],
    ['aiperf records, a metric', join(AIPERF, 'profile_export.jsonl.gz'), 'inter_chunk_latency', 'line 1: '],
    ['vllm', 'vllm/fixtures/detailed.json', 'completed', 'byte'],
    ['vllm, the list of a result', 'vllm/fixtures/detailed.json', 'input_lens', 'byte'],
    ['sglang', 'sglang/fixtures/native.jsonl', 'completed', 'line 1: '],
    ['trtllm report', 'trtllm/fixtures/report.json', 'system_output_throughput_tok_s', 'character'],
    ['trtllm requests', 'trtllm/fixtures/requests.json', 'id', 'character'],
    ['guidellm 1', 'guidellm/fixtures/v1.json', 'requests', 'byte'],
    ['guidellm 2', 'guidellm/fixtures/v2.json', 'output_tokens', 'byte'],
    ['genai-bench', 'genai-bench/fixtures/D60_16_text-to-text_num_concurrency_1_time_4s.json', 'ttft', 'character'],
    ['inference-perf', 'inference-perf/fixtures/stages/stage_0_lifecycle_metrics.json', 'successes', 'character'],
    ['llmperf', 'llmperf/fixtures/sim-model_1500_16_summary.json', 'results_ttft_s_mean', 'character'],
  ])('%s', async (_, file, key, place) => {
    const path = file.startsWith('/') ? file : join(FIXTURES, file);
    const { refused, name } = await importOfChanged(path, again(key));
    const reasons = refused.filter((reason) => reason.includes(`has the key "${key}" twice`));
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toContain(name);
    expect(reasons[0]).toContain(place);
  });

  test('yaml of guidellm', async () => {
    const path = join(FIXTURES, 'guidellm/fixtures/v2.yaml');
    const { refused } = await importOfChanged(path, (text) =>
      text.replace(/^( *)requests_per_second:/m, '$1requests_per_second: 1\n$&'),
    );
    expect(refused).toEqual([
      expect.stringMatching(/a mapping has the key "requests_per_second" twice, .* character \d+/),
    ]);
  });

  test('yaml of llm-d', async () => {
    const path = join(FIXTURES, 'llm-d/fixtures/v0.1.yaml');
    const { refused } = await importOfChanged(path, (text) => text.replace(/^( *)(\w+): \d.*$/m, '$&\n$1$2: 1'));
    expect(refused).toEqual([expect.stringMatching(/a mapping has the key "\w+" twice/)]);
  });

  test('genai-perf', async () => {
    const response = JSON.stringify('data: [DONE]\n\n');
    const text =
      '{"service_kind":"openai","endpoint":"v1/chat/completions","version":"2.60.0","experiments":[{"experiment":' +
      '{"mode":"concurrency","value":4},"requests":[{"timestamp":1700000000000000000,"request_inputs":{},' +
      `"response_timestamps":[1700000000010000000],"response_outputs":[{"response":${response}}]}]}]}`;
    await inTemporaryFolder(async (folder) => {
      await writeFile(join(folder, 'profile_export.json'), again('timestamp')(text));
      const { report } = await importInto(join(folder, 'runs'), [folder]);
      const reason = expect.stringMatching(/has the key "timestamp" twice, the second at byte \d+/);
      expect(report.outcomes).toMatchObject([{ status: 'refused', reason }]);
    });
  });

  test('aiperf, what it scraped from servers', async () => {
    const { refused } = await importOfChanged(join(SERVERS, 'server_metrics_export.jsonl.gz'), again('timestamp_ns'), [
      AIPERF,
    ]);
    expect(refused).toEqual([expect.stringMatching(/^server_metrics_export.jsonl: line 1: .* "timestamp_ns" twice/)]);
  });
});

test('a value that is stated twice in an appended file refuses its line; the other results are imported', async () => {
  const { refused, runs } = await importOfChanged(join(FIXTURES, 'sglang/fixtures/native.jsonl'), (text) => {
    const [line = ''] = text.split('\n');
    return [again('completed')(line), line, line.replace(/"completed": \d+/, '"completed": 11')].join('\n');
  });
  expect(refused).toEqual([expect.stringMatching(/^native.jsonl: line 1: .* "completed" twice/)]);
  expect(runs.length).toBeGreaterThan(1);
});

test('columns and metrics of a CSV are there once', async () => {
  const title = (text: string): string => text.replace(/^(Time to First Token[^\n]*)\n/m, '$1\n$1\n');
  await inTemporaryFolder(async (folder) => {
    const csv = await readFile(join(AIPERF, 'profile_export_aiperf.csv'), 'utf8');
    await writeFile(join(folder, 'profile_export_aiperf.csv'), title(csv));
    const { report } = await importInto(join(folder, 'runs'), [folder]);
    const reason = expect.stringMatching(/the metric "Time to First Token \(ms\)" twice/);
    expect(report.outcomes).toMatchObject([{ status: 'refused', reason }]);
  });
});
