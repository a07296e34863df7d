import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseText } from '../../core/exposition/index.ts';
import { parseOpenMetrics } from '../../core/exposition/testing/open-metrics.ts';
import type { Exposition } from '../../core/exposition/index.ts';
import { SummaryAccumulator } from '../../core/measures/summary.ts';
import type { RequestRecord } from '../../core/run/record.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';
import type { MeasureResult, ResultFile } from '../../core/run/result.ts';
import { requestRecord, resultFile, runFile } from './fixtures/run.ts';
import { counter, gauge, serversFile } from './fixtures/servers.ts';
import { ResultMetrics } from './result-metrics.ts';
import type { RunReader } from './run-reader.ts';
import { runSummary } from './views/run-summary.ts';
import { wholePage } from './testing/whole-page.ts';

const RUN_ID = 'r1';
const RUN = runFile({ run_id: RUN_ID, status: 'completed' });
const ns = (most: number) => fc.integer({ min: 0, max: most });

/** A request of any outcome, with its chunks in order. */
const record: fc.Arbitrary<RequestRecord> = fc
  .record({
    phase: fc.constantFrom('warmup', 'measure', 'measure', 'measure'),
    sent_ns: ns(10_000_000_000),
    delay_ns: ns(1_000_000),
    gaps_ns: fc.array(ns(300_000_000), { maxLength: 6 }),
    outcome: fc.constantFrom('ok', 'ok', 'ok', 'error', 'timeout', 'cancelled'),
    output_tokens: fc.option(fc.integer({ min: 0, max: 50 })),
  })
  .map(({ phase, sent_ns, delay_ns, gaps_ns, outcome, output_tokens }) => {
    let at = 0;
    const chunk_offsets_ns = gaps_ns.map((gap) => (at += gap));
    const [first] = chunk_offsets_ns;
    return requestRecord({
      phase: phase,
      outcome: outcome,
      reason: outcome === 'ok' ? null : 'other',
      due_ns: sent_ns - delay_ns,
      sent_ns,
      first_content_ns: first === undefined ? null : sent_ns + first,
      last_content_ns: first === undefined ? null : sent_ns + at,
      end_ns: sent_ns + at + 1000,
      chunk_offsets_ns,
      output_tokens,
    });
  });

function resultOf(records: readonly RequestRecord[]): ResultFile {
  const summary = new SummaryAccumulator({ plannedConcurrency: 4 });
  for (const each of records) summary.add(each);
  const chunks = summary.chunkReading();
  for (const each of records) chunks.add(each);
  const { requests, measures } = summary.summarize(chunks);
  return resultFile({ run_id: RUN_ID, requests, measures });
}

const SERVERS = serversFile([
  counter('vllm:prompt_tokens_total', 12_345.5),
  gauge('vllm:num_requests_running', 3.25, 9),
]);

/** The page in both formats, read back. */
async function scraped(records: readonly RequestRecord[], result: ResultFile): Promise<Exposition[]> {
  const source: RunReader = {
    list: async () => [{ run_id: RUN_ID, summary: runSummary(RUN, null), damage: null }],
    readRun: async () => RUN,
    readResult: async () => result,
    readServers: async () => SERVERS,
    async *readRecords() {
      yield* records;
    },
    live: async () => [],
  };
  const problem = (line: string): void => {
    throw new Error(line);
  };
  const metrics = new ResultMetrics({ source, version: '0.1.0', problem });
  const text = await metrics.render(undefined);
  const open = await metrics.render('application/openmetrics-text; version=1.0.0');
  return [parseText(wholePage(text)), parseOpenMetrics(wholePage(open))];
}

/** Every number of result.json that is not null, as `unit measure stat` → value. */
function numbersOf({ requests, measures }: ResultFile): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [outcome, count] of Object.entries(requests)) {
    if (count !== null) found[`requests requests ${outcome}`] = count;
  }
  for (const measure of measures) {
    for (const [stat, value] of statistics(measure)) {
      const fromDue = measure.clock === 'due' && measure.measure !== 'schedule_delay' ? '_from_due' : '';
      // One number per run has one population.
      const all = measure.kind === 'distribution' && measure.population === 'all' ? 'all_' : '';
      if (value !== null) found[`${measure.unit} ${measure.measure}${fromDue} ${all}${stat}`] = value;
    }
  }
  return found;
}

function statistics(measure: MeasureResult): [string, number | null][] {
  if (measure.kind === 'scalar') return [['value', measure.value]];
  const { mean, std, min, max, percentiles } = measure;
  return [
    ...Object.entries({ mean, std, min, max }),
    ...PERCENTILE_NAMES.map((name): [string, number | null] => [name, percentiles[name].value]),
  ];
}

/** The same from a page. */
function numbersOn(page: Exposition): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { name, samples } of page.families) {
    const unit = /^llmbench_result_(.+)$/.exec(name)?.[1];
    for (const { labels, value } of samples) {
      if (unit === undefined || labels['measure'] === undefined) continue;
      const key = `${unit} ${labels['measure']} ${labels['stat']}`;
      expect(found[key]).toBeUndefined();
      found[key] = value;
    }
  }
  return found;
}

function valueOf(page: Exposition, name: string, labels: Record<string, string> = {}): number | undefined {
  return page.families
    .flatMap(({ samples }) => samples)
    .find(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )?.value;
}

test('what a scrape shows of a run is what its directory holds: every number, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 30 }), async (records) => {
      const result = resultOf(records);
      const measured = records.filter(({ phase }) => phase === 'measure');
      const withContent = measured.filter(({ first_content_ns }) => first_content_ns !== null);
      const gaps = measured.flatMap(({ chunk_offsets_ns }) => chunk_offsets_ns.slice(1));
      const latency = result.measures.find(
        ({ measure, population, clock }) => measure === 'request_latency' && population === 'ok' && clock === 'sent',
      );
      for (const page of await scraped(records, result)) {
        expect(page.duplicates.count).toBe(0);
        expect(numbersOn(page)).toEqual(numbersOf(result));
        expect(valueOf(page, 'llmbench_result_time_to_first_token_seconds_count')).toBe(withContent.length);
        expect(valueOf(page, 'llmbench_result_schedule_delay_seconds_count')).toBe(measured.length);
        expect(valueOf(page, 'llmbench_result_inter_chunk_latency_seconds_count')).toBe(gaps.length);
        const count = valueOf(page, 'llmbench_result_request_latency_seconds_count');
        expect(count).toBe(latency?.kind === 'distribution' ? latency.n : 0);
        const sum = valueOf(page, 'llmbench_result_request_latency_seconds_sum') ?? NaN;
        const mean = latency?.kind === 'distribution' ? (latency.mean ?? 0) : 0;
        expect(sum).toBeCloseTo(mean * (count ?? 0), 9);
        expect(valueOf(page, 'llmbench_server_vllm_prompt_tokens_total')).toBe(12_345.5);
        expect(valueOf(page, 'llmbench_server_vllm_num_requests_running', { stat: 'mean' })).toBe(3.25);
        expect(valueOf(page, 'llmbench_server_vllm_num_requests_running', { stat: 'max' })).toBe(9);
      }
    }),
    { numRuns: 15 },
  );
});
