import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestRecord } from '../core/run/record.ts';
import { readRecords, runBenchmark } from '../exporter/library/index.ts';
import type { BenchmarkRun } from '../exporter/library/index.ts';
import { reasoningTokens, targetOptions } from '../simulator/dialects/dialect.ts';
import { DIALECT_NAMES, DIALECTS } from '../simulator/dialects/table.ts';
import { startDialect } from '../simulator/main.ts';

const REQUESTS = 3;
const OUTPUT_TOKENS = 9;

/** What the simulator did with a request: times on its own clock. */
interface Truth {
  readonly arrival: number;
  readonly prompt_tokens: number;
  readonly output_tokens: number;
  readonly outcome: string;
  readonly written: readonly number[];
}

let runsDir: string;
beforeAll(async () => {
  runsDir = await mkdtemp(join(tmpdir(), 'llmbench-dialects-'));
});
afterAll(() => rm(runsDir, { recursive: true, force: true }));

/** Runs a benchmark with the options that docs/compatibility.md gives for the dialect. */
async function measured(name: (typeof DIALECT_NAMES)[number], streaming: boolean) {
  const simulator = await startDialect(name, { engine: { stepBaseMilliseconds: 6 } });
  try {
    const words = targetOptions(DIALECTS[name], simulator.url, 'sim-model');
    const option = (flag: string): string | undefined => words[words.indexOf(flag, 0) + 1 || words.length];
    const path = option('--endpoint-path');
    const [header, value] = option('--header')?.split(': ') ?? [];
    const run = await runBenchmark({
      ...{ url: option('--url') ?? '', model: 'sim-model', concurrency: 1, requestCount: REQUESTS, streaming, runsDir },
      ...{ isl: 12, osl: OUTPUT_TOKENS },
      ...(words.includes('--api-key-env') ? { apiKey: 'KEY' } : {}),
      ...(header === undefined || value === undefined ? {} : { headers: { [header]: value } }),
      runOptions: { 'no-server-metrics': true, ...(path === undefined ? {} : { 'endpoint-path': path }) },
    });
    const records: RequestRecord[] = [];
    for await (const record of readRecords(runsDir, run.run.run_id)) records.push(record);
    const log = (await (await fetch(simulator.truthUrl)).json()) as { requests: readonly Truth[] };
    // What came before is the probe.
    return { run, records: records.sort((a, b) => a.index - b.index), truths: log.requests.slice(-REQUESTS) };
  } finally {
    await simulator.close();
  }
}

function mean({ result }: BenchmarkRun, measure: string): number | null {
  const found = result.measures.find((each) => each.measure === measure);
  return found?.kind === 'distribution' ? found.mean : null;
}

describe.each(DIALECT_NAMES)('%s', (name) => {
  const dialect = DIALECTS[name];
  const { where, value } = dialect.usage;
  const thought = reasoningTokens(dialect, OUTPUT_TOKENS);
  const hidden = dialect.reasoning === 'hidden' ? thought : 0;
  const streamed = OUTPUT_TOKENS - hidden;
  const reportsReasoning = JSON.stringify(value).includes('"$reasoning"');

  test('a stream is measured as the simulator sent it', async () => {
    const { run, records, truths } = await measured(name, true);
    expect({ requests: run.result.requests, failure: run.failure }).toEqual({
      requests: { ok: REQUESTS, error: 0, timeout: 0, cancelled: 0 },
      failure: null,
    });
    expect(truths.map(({ outcome, output_tokens }) => [outcome, output_tokens])).toEqual(
      Array(REQUESTS).fill(['finished', OUTPUT_TOKENS]),
    );
    let secondsPerToken = 0;
    for (const [i, record] of records.entries()) {
      const truth = truths[i];
      const offsets = record.chunk_offsets_ns;
      // One chunk for each token: none was missed, and nothing else was taken for output.
      expect(offsets).toHaveLength(streamed);
      const early = offsets.filter((ns, k) => ns < (truth?.written[k + hidden] ?? NaN) - (truth?.arrival ?? NaN));
      expect(early).toEqual([]);
      const { sent_ns, first_content_ns, first_output_ns, last_content_ns } = record;
      expect(first_content_ns).toBe(sent_ns + (offsets[0] ?? NaN));
      const output = offsets[thought - hidden] ?? NaN;
      // One nanosecond after reasoning that arrived in the same read.
      expect(first_output_ns).toBe(sent_ns + output + (thought > hidden && output === offsets[0] ? 1 : 0));
      expect(last_content_ns).toBe(sent_ns + (offsets.at(-1) ?? NaN));
      const counted = where === 'never' ? null : OUTPUT_TOKENS;
      expect(record.output_tokens).toBe(counted);
      expect(record.input_tokens).toBe(where === 'never' ? null : truth?.prompt_tokens);
      if (reportsReasoning) expect(record.reasoning_tokens).toBe(thought);
      secondsPerToken += ((offsets.at(-1) ?? NaN) - (offsets[0] ?? NaN)) / 1e9 / (streamed - 1) / REQUESTS;
    }
    if (where === 'never') expect(mean(run, 'inter_token_latency')).toBeNull();
    else expect(mean(run, 'inter_token_latency')).toBeCloseTo(secondsPerToken, 9);
  });

  test('an answer that is not streamed has the same tokens', async () => {
    const { run, records } = await measured(name, false);
    expect(run.result.requests.ok).toBe(REQUESTS);
    expect(records.map(({ output_tokens }) => output_tokens)).toEqual(Array(REQUESTS).fill(OUTPUT_TOKENS));
  });
});
