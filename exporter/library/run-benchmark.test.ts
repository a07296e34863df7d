import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { BenchmarkError, compareRuns, listRuns, readRecords, readRun, runBenchmark } from './index.ts';
import type { BenchmarkOptions, BenchmarkProgress } from './index.ts';
import { until } from '../../core/testing/until.ts';

const KEY = 'sk-of-this-test';
const received: { authorization: string | undefined; body: Record<string, unknown> }[] = [];
/** Null: every request waits for its end. */
let tokens: number | null = 3;
let server: Server;
let url: string;
let runsDir: string;

beforeAll(async () => {
  runsDir = mkdtempSync(join(tmpdir(), 'llmbench-library-'));
  server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      if (request.url !== '/v1/chat/completions') return void response.writeHead(404).end();
      const body = JSON.parse(text) as Record<string, unknown>;
      received.push({ authorization: request.headers.authorization, body });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = (data: object): unknown => response.write(`data: ${JSON.stringify(data)}\n\n`);
      for (let i = 0; i < (tokens ?? 1); i++) event({ choices: [{ index: 0, delta: { content: 'word ' } }] });
      // The probe is the only one with a short limit.
      if (tokens === null && received.length > 1) return;
      event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      event({ choices: [], usage: { prompt_tokens: 8, completion_tokens: tokens ?? 1 } });
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(runsDir, { recursive: true, force: true });
});

const benchmark = (changes: Partial<BenchmarkOptions> = {}) =>
  runBenchmark({
    ...{ url, model: 'm', concurrency: 2, requestCount: 6, isl: 8, osl: 3, runsDir },
    ...{ runOptions: { 'no-server-metrics': true } },
    ...changes,
  });

describe('a run', () => {
  test('has its result, is stored, is reported while it lasts, and prints nothing', async () => {
    const printed = [process.stdout, process.stderr].map((stream) => jest.spyOn(stream, 'write'));
    const progress: BenchmarkProgress[] = [];
    const messages: string[] = [];
    received.length = 0;
    const measured = await benchmark({
      ...{ apiKey: KEY, extraInputs: { top_k: 5 }, scenario: 'library', tag: ['a', 'b'] },
      ...{ onProgress: (each) => progress.push(each), onMessage: (line) => messages.push(line) },
    });
    for (const spy of printed) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
    expect(measured.result).toMatchObject({ status: 'completed', requests: { ok: 6, error: 0 } });
    expect(measured.run).toMatchObject({ scenario: 'library', tags: ['a', 'b'], status: 'completed' });
    expect(measured.failure).toBeNull();
    expect(progress.at(-1)).toMatchObject({
      phase: 'measure',
      sent: 6,
      ok: 6,
      failed: 0,
      inFlight: 0,
      outputTokens: 18,
    });
    expect(messages[0]).toContain('6 requests, concurrency 2');
    expect(received.at(-1)).toMatchObject({ authorization: `Bearer ${KEY}`, body: { top_k: 5, model: 'm' } });

    const id = measured.result.run_id;
    expect(await readRun(runsDir, id)).toEqual({ path: measured.path, run: measured.run, result: measured.result });
    const outcomes: string[] = [];
    for await (const { outcome } of readRecords(runsDir, id)) outcomes.push(outcome);
    expect(outcomes).toEqual(Array(6).fill('ok'));
    for (const name of readdirSync(measured.path, { recursive: true, encoding: 'utf8' }))
      if (/\.(json|html)$/.test(name)) expect(readFileSync(join(measured.path, name), 'utf8')).not.toContain(KEY);
  });

  test('ends at the signal, with the run stored as aborted', async () => {
    tokens = null;
    received.length = 0;
    const aborter = new AbortController();
    const running = benchmark({ signal: aborter.signal });
    await until(() => received.length >= 3);
    aborter.abort();
    const { result, run } = await running;
    tokens = 3;
    expect({ status: result.status, requests: result.requests }).toEqual({
      status: 'aborted',
      requests: { ok: 0, error: 0, timeout: 0, cancelled: 2 },
    });
    expect((await listRuns(runsDir)).find(({ run_id }) => run_id === run.run_id)?.run?.status).toBe('aborted');
  });
});

describe('what cannot be measured', () => {
  test.each<[string, Partial<BenchmarkOptions>, string, RegExp]>([
    ['an invalid value', { concurrency: 0 }, 'refused', /^--concurrency is '0' and must be a whole number from 1/],
    ['an unknown option', { concurency: 2 } as never, 'refused', /did you mean --concurrency\?/],
    ['an option of the command', { runOptions: { find: 'concurrency' } }, 'refused', /option of the command only/],
    ['a sweep', { runOptions: { concurrency: '1,2' } }, 'refused', /describe 2 runs/],
    ['a large load elsewhere', { url: 'http://192.0.2.1', concurrency: 100, requestCount: 100 }, 'refused', /--yes/],
    ['a server that does not answer', { url: 'http://127.0.0.1:9' }, 'failed', /connection refused/],
  ])('%s is one error with a code', async (_, changes, code, message) => {
    const error = await benchmark(changes).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BenchmarkError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message), result: null });
  });

  test('throws the reason of a signal that is aborted before', async () => {
    const reason = new Error('not now');
    await expect(benchmark({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('reads no environment', async () => {
    process.env['LLMBENCH_CONCURRENCY'] = '0';
    try {
      expect((await benchmark()).result.status).toBe('completed');
    } finally {
      delete process.env['LLMBENCH_CONCURRENCY'];
    }
  });
});

describe('comparing runs', () => {
  /** Whether this process kept up depends on what else the machine does. */
  const keptUp = (run: Awaited<ReturnType<typeof benchmark>>): typeof run => ({
    ...run,
    result: { ...run.result, client: { ...run.result.client, verdict: 'ok' } },
  });

  test('needs several runs on each side to decide, and names their number', async () => {
    const [a, b] = [keptUp(await benchmark()), keptUp(await benchmark())];
    const judgment = compareRuns([a], [b], { gate: ['time_to_first_token:p50'], margin: ['3'] });
    expect(judgment).toMatchObject({ verdict: 'undecided', needs: { design: 'sets' } });
    expect(judgment.measures.filter(({ gating }) => gating).map(({ measure, margin }) => [measure, margin])).toEqual([
      ['time_to_first_token', 0.03],
    ]);
  });

  test('refuses a run on both sides and a wrong rule', async () => {
    const run = await benchmark();
    expect(() => compareRuns([run], [run])).toThrow(/is in both sets/);
    expect(() => compareRuns([run], [], { margin: ['-1'] })).toThrow(/a percentage above 0/);
  });
});
