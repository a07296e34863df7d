import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestRecord } from '../../core/run/record.ts';
import { histogram } from '../publish/fixtures/servers.ts';
import { EXAMPLE_END, examplePlan, exampleRecord } from '../store/fixtures/example-run.ts';
import { openStore } from '../store/run-store.ts';
import type { RunPlan } from '../store/run-writer.ts';
import { RequestViewBuilder, VIEW_FIELDS } from './request-view.ts';
import { viewOfRecords, writeReport, reportPage } from './write-report.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'llmbench-report-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A finished run of these records, and its report. */
async function reportOf(
  records: readonly RequestRecord[],
  change: Partial<RunPlan> = {},
  before?: (folder: string) => Promise<void>,
) {
  const { store } = await openStore(directory);
  const writer = await store.begin(examplePlan(change));
  records.forEach((record) => writer.requestEnded(record));
  const result = await writer.finish({
    ...EXAMPLE_END,
    ...(records.length === 0 ? { status: 'failed', failure: 'no request succeeded' } : {}),
  });
  const run = await store.readRun(result.run_id);
  const folder = store.pathOf(result.run_id);
  await before?.(folder);
  const path = await writeReport(folder, run, result, () => viewOfRecords(store.readRecordGroups(run, VIEW_FIELDS)));
  return { page: await readFile(path, 'utf8'), run, result };
}

const RUN = Array.from({ length: 60 }, (_, i) => exampleRecord(i));

/** The visible text, without markup. */
const textOf = (page: string): string =>
  page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the page', () => {
  test('loads no external resources and runs no scripts', async () => {
    const { page } = await reportOf(RUN);
    expect(page).toMatch(/^<!doctype html>/i);
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(
      /<(script|link|img|iframe|object|embed|base)\b|\b(src|href|onload|onclick)=|url\(|@import/i,
    );
  });

  test('shows target, time, status and the figures of the result', async () => {
    const { page, run, result } = await reportOf(RUN);
    const text = textOf(page);
    for (const expected of [
      run.scenario,
      run.run_id,
      run.fingerprint,
      'example-model',
      'http://127.0.0.1:8000',
      'completed',
      '2026-03-04 05:06:07 UTC',
      'concurrency 2',
    ]) {
      expect(text).toContain(expected);
    }
    // 47 ok requests of 20 ms; 12 of the 59 measured failed.
    expect(result.requests).toMatchObject({ ok: 47, error: 12 });
    expect(text).toContain('12 requests failed');
    expect(text).toMatch(/Time to first token p50 20 ms/);
    expect(text).toContain('http_5xx HTTP status 500 to 599 12');
    expect(text).toContain('all requests, failed ones as infinitely slow');
    expect(text).toContain('too few');
  });

  test('is titled by scenario, model and load', async () => {
    const { page } = await reportOf(RUN);
    expect(page).toMatch(/<title>example, example-model, concurrency 2 · [^<]+<\/title>/);
    expect(/<h1>\s*([^<]*)</.exec(page)?.[1]).toBe('example, example-model, concurrency 2');
  });

  test('escapes every text of the run', async () => {
    const evil = '"><svg onload=alert(1)>&amp;\'';
    const { page } = await reportOf(RUN, {
      scenario: evil,
      comparison_key: { ...examplePlan().comparison_key, model: evil, sampling: { [evil]: evil } },
      tool: { name: evil, version: evil },
    });
    expect(page).not.toContain('<svg onload');
    expect(page.match(/&lt;svg onload=alert\(1\)&gt;/g)?.length).toBeGreaterThanOrEqual(6);
  });

  test('a run without requests shows a message and no charts', async () => {
    const { page } = await reportOf([]);
    const text = textOf(page);
    expect(text).toContain('No request succeeded');
    expect(text).toContain('The run failed: no request succeeded');
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
    expect(page).not.toContain('<figure');
  });

  test('renders one request, and requests without content', async () => {
    for (const records of [
      [exampleRecord(1)],
      [exampleRecord(4)],
      [exampleRecord(1, { chunk_offsets_ns: [0], first_content_ns: 0, last_content_ns: 0 })],
    ]) {
      const { page } = await reportOf(records);
      expect(page).not.toMatch(/NaN|undefined|Infinity/);
    }
  });
});

test('turns of conversations are side by side, and how many conversations there were', async () => {
  const turns = RUN.map((record, i) => ({
    ...record,
    ...{ conversation: Math.floor(i / 3), turn: (i % 3) + 1, conversation_requests: 3 },
  }));
  const text = textOf((await reportOf(turns)).page);
  expect(text).toMatch(/Turns of conversations Conversations: \d+ complete, \d+ incomplete; mean duration/);
  // What the client added to the waits of turns; nothing of this input was recorded.
  expect(text).toMatch(/E2E p99 [\w ]*delay p99 first /i);
  expect(text).toMatch(/ first \d+ \d+ [\d,]+ tokens .* later \d+ \d+ /);
  expect(textOf((await reportOf(RUN)).page)).not.toContain('Turns of conversations');
});

test('reranked documents have no empty figures of tokens, and the reason stands instead', async () => {
  const whole = { first_content_ns: null, chunk_offsets_ns: [], output_tokens: null, documents: 8 };
  const records = RUN.map((record) => ({ ...record, ...whole, last_content_ns: record.end_ns }));
  const text = textOf((await reportOf(records)).page);
  expect(text).toContain('The endpoint reads documents and generates no tokens');
  expect(text).toMatch(/Throughput of ok requests [\d.,]+ documents\/s/);
  expect(text).not.toContain('No request has a value for this measure');
  expect(text).not.toContain('spread over the chunks of each response');
});

test('a long run has a report of the same size', async () => {
  const { run, result } = await reportOf(RUN);
  const builder = new RequestViewBuilder();
  for (let i = 0; i < 40_000; i++)
    builder.add(exampleRecord(i, { chunk_offsets_ns: [20_000_000 + i, 90_000_000 + ((i * 7919) % 65_537) * 100] }));
  const page = reportPage({ run, result, requests: builder.view(), servers: null, notes: [] });
  expect(page.length).toBeLessThan(400_000);
  expect(textOf(page)).toContain('1,500 of 32,000 requests, chosen at random');
});

describe("the servers' values beside the client's", () => {
  const ESTIMATE = { estimate: 0.02, bounds: [0.01, 0.025], bounds_by_sum: null } as const;
  const servers = (exact: boolean) => ({
    ...{ exact, why: exact ? null : 'not exact: +45 requests from other clients', requests: null, gpu_energy: null },
    collector: { interval_seconds: 1, cpu_seconds: null, cpu_share: null },
    targets: [],
  });
  const series = [histogram('vllm:time_to_first_token_seconds', { count: 545, mean: 0.02 }, ESTIMATE)];

  async function shown(exact: boolean): Promise<string> {
    const { run, result } = await reportOf(RUN);
    const seen = { signals: [], series };
    return textOf(
      reportPage({ run, result: { ...result, servers: servers(exact) }, requests: null, servers: seen, notes: [] }),
    );
  }

  test('are marked where they are not exactly of the run; the reason stands once', async () => {
    const text = await shown(false);
    expect(text).toContain('545 not exact');
    expect(text).toContain('The server metrics are not exact for this run: +45 requests from other clients.');
    expect(text).not.toMatch(/not exact: not exact/);
  });

  test('are not marked where they are', async () => {
    const text = await shown(true);
    expect(text).toContain(' 545 ');
    expect(text).not.toContain('not exact');
  });
});

describe('where the time to first token goes', () => {
  const NONE = { estimate: null, bounds: null, bounds_by_sum: null };

  async function shown(means: Readonly<Record<string, number>>): Promise<string> {
    const { run, result } = await reportOf(RUN);
    const ttft = result.measures.find(
      ({ measure, population }) => measure === 'time_to_first_token' && population === 'ok',
    );
    const count = (ttft?.kind === 'distribution' ? ttft.n : null) ?? NaN;
    const series = Object.entries(means).map(([family, mean]) => histogram(family, { count, sum: mean * count }, NONE));
    return textOf(reportPage({ run, result, requests: null, servers: { signals: [], series }, notes: [] }));
  }

  test('parts, what they do not explain, and the rest of the client', async () => {
    const text = await shown({
      'vllm:time_to_first_token_seconds': 0.018,
      'vllm:request_queue_time_seconds': 0.004,
      'vllm:request_prefill_time_seconds': 0.012,
    });
    expect(text).toContain('Server: queue 4 ms 20 %');
    expect(text).toContain('Server: prefill 12.0 ms 60.0 %');
    expect(text).toContain('Not attributed 2.00 ms 10.00 %');
    expect(text).toContain('Outside the servers 2.00 ms 10.0 %');
    expect(text).toContain('Together 20 ms');
  });

  test('no bar where parts overlap', async () => {
    const text = await shown({ 'vllm:time_to_first_token_seconds': 0.01, 'vllm:request_queue_time_seconds': 0.011 });
    expect(text).toContain('parts overlap');
    expect(text).not.toContain('Not attributed');
  });
});

describe('reports unreadable files and shows the rest', () => {
  test('records', async () => {
    const { page } = await reportOf(RUN, {}, (folder) => writeFile(join(folder, 'records', '0.parquet'), 'rubbish'));
    expect(textOf(page)).toContain('The records cannot be read');
    expect(textOf(page)).toMatch(/Time to first token p50 20 ms/);
  });

  test('servers', async () => {
    const { page } = await reportOf(RUN, {}, (folder) => writeFile(join(folder, 'servers.json'), '{'));
    expect(textOf(page)).toContain('The collected server metrics cannot be read');
    expect(page).toContain('<figure');
  });
});
