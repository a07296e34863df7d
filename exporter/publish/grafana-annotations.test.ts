import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../core/testing/until.ts';
import { resultFile, runFile } from './fixtures/run.ts';
import { Annotator } from './grafana-annotations.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

interface Annotation {
  readonly id: number;
  readonly time: number;
  readonly timeEnd?: number;
  readonly tags: readonly string[];
  readonly text: string;
  readonly dashboardUID?: string;
}

/** The part of Grafana's HTTP API that is used, as its documentation of annotations describes it. */
class FakeGrafana {
  readonly annotations: Annotation[] = [];
  readonly calls: string[] = [];
  readonly tokens = new Set<string>();
  url = '';
  /** The response to every request while it is set. */
  failure: { readonly status: number; readonly text: string } | 'silence' | null = null;

  static async start(path = ''): Promise<FakeGrafana> {
    const grafana = new FakeGrafana();
    const server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        const { method = '', url = '' } = request;
        grafana.calls.push(`${method} ${url.slice(path.length)}`);
        grafana.tokens.add(request.headers.authorization ?? '');
        const { failure } = grafana;
        if (failure === 'silence') return;
        if (failure !== null) response.writeHead(failure.status).end(failure.text);
        else
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(grafana.#answer(method, url.slice(path.length), body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));
    grafana.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    return grafana;
  }

  #answer(method: string, url: string, body: string): string {
    const { pathname, searchParams } = new URL(url, 'http://grafana');
    if (method === 'GET') {
      const wanted = searchParams.getAll('tags');
      return JSON.stringify(this.annotations.filter(({ tags }) => wanted.every((tag) => tags.includes(tag))));
    }
    const given = JSON.parse(body) as Omit<Annotation, 'id'>;
    if (method === 'POST') {
      const id = this.annotations.length + 1;
      this.annotations.push({ ...given, id });
      return JSON.stringify({ id, message: 'Annotation added' });
    }
    const id = Number(pathname.split('/').at(-1));
    this.annotations[id - 1] = { ...(this.annotations[id - 1] as Annotation), ...given };
    return JSON.stringify({ message: 'Annotation patched' });
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

const running = runFile({ scenario: 'chat <b>', start: '2026-11-03T10:15:00.250Z' });
const finished = {
  ...running,
  status: 'completed' as const,
  end: '2026-11-03T10:15:11.000Z',
  phases: [
    { phase: 'warmup' as const, start: '2026-11-03T10:15:00.300Z', end: '2026-11-03T10:15:00.500Z' },
    { phase: 'measure' as const, start: '2026-11-03T10:15:00.550Z', end: '2026-11-03T10:15:10.550Z' },
  ],
};

function annotator(grafana: FakeGrafana, dashboardUid: string | null = null): Annotator {
  const made = new Annotator({ url: grafana.url, token: 'geheim42' }, dashboardUid);
  cleanUp.push(() => made.close());
  return made;
}

const regions = ({ annotations }: FakeGrafana) =>
  annotations.map(({ time, timeEnd, tags }) => [tags.find((tag) => tag.startsWith('part:')), time, timeEnd]);

const WHOLE = ['part:run', Date.parse('2026-11-03T10:15:00.250Z'), Date.parse('2026-11-03T10:15:11.000Z')];
const WARMUP = ['part:warmup', Date.parse('2026-11-03T10:15:00.300Z'), Date.parse('2026-11-03T10:15:00.500Z')];
const MEASURE = ['part:measure', Date.parse('2026-11-03T10:15:00.550Z'), Date.parse('2026-11-03T10:15:10.550Z')];

test('a run is annotated while it lasts, and is a region with its phases when it has ended', async () => {
  const grafana = await FakeGrafana.start('/grafana');
  const own = annotator(grafana, 'dash-1');
  own.begin(running);
  await until(() => grafana.annotations.length !== 0);
  expect(regions(grafana)).toEqual([[WHOLE[0], WHOLE[1], undefined]]);
  expect(await own.finish(finished, resultFile())).toEqual([]);
  expect(regions(grafana)).toEqual([WHOLE, WARMUP, MEASURE]);
  const [whole] = grafana.annotations;
  expect(whole?.tags).toEqual([
    'llmbench',
    `run_id:${running.run_id}`,
    'part:run',
    'scenario:chat <b>',
    'status:completed',
  ]);
  expect(whole?.dashboardUID).toBe('dash-1');
  expect(whole?.text).toBe(
    `chat &lt;b&gt;: tiny &quot;quoted&quot; · concurrency 8 · ${running.run_id}<br>` +
      'completed: 3 requests ok, 1 not, p99 of the time to first token 500 ms',
  );
  expect([...grafana.tokens]).toEqual(['Bearer geheim42']);
});

test('a run with stages has a region for each stage that began', async () => {
  const grafana = await FakeGrafana.start();
  const [first, second] = ['2026-11-03T10:15:05.550Z', '2026-11-03T10:15:10.550Z'];
  const { requests, window, errors, measures, slos } = resultFile();
  const rest = { requests, window, errors, measures, slos };
  const rate = { duration_seconds: 5, concurrency: null, request_rate: { start: 5, end: 20 } };
  const fixed = { duration_seconds: 5, concurrency: 64, request_rate: null };
  const stages = [
    { ...rest, stage: 1, load: rate, start: '2026-11-03T10:15:00.550Z', end: first },
    { ...rest, stage: 2, load: fixed, start: first, end: second },
    { ...rest, stage: 3, load: fixed, start: null, end: null },
  ];
  expect(await annotator(grafana).finish(finished, resultFile({ stages }))).toEqual([]);
  expect(regions(grafana)).toEqual([
    ...[WHOLE, WARMUP, MEASURE],
    ['part:stage-1', Date.parse('2026-11-03T10:15:00.550Z'), Date.parse(first)],
    ['part:stage-2', Date.parse(first), Date.parse(second)],
  ]);
  expect(grafana.annotations[3]?.text).toMatch(/^stage 1, rate=5\.\.20, of chat /);
  expect(grafana.annotations[4]?.tags).toContain('stage:2');
});

test('annotating again, also by another process, updates what exists', async () => {
  const grafana = await FakeGrafana.start();
  for (let i = 0; i < 2; i++) expect(await annotator(grafana).finish(finished, resultFile())).toEqual([]);
  const other = { ...finished, run_id: 'other' };
  expect(await annotator(grafana).finish(other, resultFile())).toEqual([]);
  expect(regions(grafana)).toEqual([WHOLE, WARMUP, MEASURE, WHOLE, WARMUP, MEASURE]);
  expect(grafana.calls.filter((call) => call.startsWith('POST'))).toHaveLength(6);
  expect(grafana.calls.filter((call) => call.startsWith('PATCH'))).toHaveLength(3);
});

test('a region left open by a killed process is ended by the process that annotates the run later', async () => {
  const grafana = await FakeGrafana.start();
  annotator(grafana).begin(running);
  await until(() => grafana.annotations.length !== 0);
  const recovered = { ...finished, status: 'aborted' as const, recovered: true };
  expect(await annotator(grafana).finish(recovered, resultFile({ status: 'aborted' }))).toEqual([]);
  expect(regions(grafana)).toEqual([WHOLE, WARMUP, MEASURE]);
  expect(grafana.annotations[0]?.tags).toContain('status:aborted');
});

test('a failure at the beginning is not reported when the end goes well', async () => {
  const grafana = await FakeGrafana.start();
  grafana.failure = { status: 503, text: 'starting' };
  const own = annotator(grafana);
  own.begin(running);
  await until(() => grafana.calls.length !== 0);
  grafana.failure = null;
  expect(await own.finish(finished, resultFile())).toEqual([]);
  expect(regions(grafana)).toEqual([WHOLE, WARMUP, MEASURE]);
});

test('a failure at the end is one line without the token', async () => {
  const grafana = await FakeGrafana.start();
  grafana.failure = { status: 401, text: '{"message":"Invalid\nkey geheim42"}' };
  expect(await annotator(grafana).finish(finished, resultFile())).toEqual([
    'the run is not annotated in Grafana: HTTP 401: {"message":"Invalid key ***"}',
  ]);
});

test('no server, and a response that is not JSON', async () => {
  const unreachable = new FakeGrafana();
  unreachable.url = 'http://127.0.0.1:1';
  expect(await annotator(unreachable).finish(finished, resultFile())).toEqual([
    expect.stringMatching(/^the run is not annotated in Grafana: .*ECONNREFUSED/),
  ]);
  const grafana = await FakeGrafana.start();
  grafana.failure = { status: 200, text: '<html>' };
  expect(await annotator(grafana).finish(finished, resultFile())).toEqual([
    expect.stringMatching(/^the run is not annotated in Grafana: /),
  ]);
});

test('a run without a time of its own is not annotated', async () => {
  const grafana = await FakeGrafana.start();
  const own = annotator(grafana);
  own.begin({ ...running, start: null });
  expect(await own.finish({ ...finished, start: null }, resultFile())).toEqual([]);
  expect(grafana.calls).toEqual([]);
});
