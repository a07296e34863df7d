import { gunzipSync } from 'node:zlib';
import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, afterEach, beforeEach } from '@jest/globals';
import { request } from 'undici';
import express, { type RequestHandler } from 'express';
import { until } from '../../../core/testing/until.ts';
import { RunList, RunLibrary } from '../../publish/views/run-library.ts';
import { tokenAccess } from '../access/access.ts';
import { hostCheck } from '../allowed-host.ts';
import { listen, type Listening } from '../listen.ts';
import { problemHandler } from '../problem.ts';
import { createApi, limitInFlight } from './api.ts';
import { complaints, describedRoutes, PROBLEM, type DescribedParameter } from './fixtures/openapi.ts';
import { storeRuns, type StoredRuns } from './fixtures/stored-runs.ts';
import { sendJson } from './json-body.ts';

describe('api', () => {
  let runs: StoredRuns;
  let server: Listening;
  const problems: string[] = [];

  beforeAll(async () => {
    runs = await storeRuns();
    const problem = (line: string): void => void problems.push(line);
    const api = createApi({
      library: new RunLibrary(runs.store, new RunList(runs.store), problem),
      version: '0.1.0',
      access: tokenAccess({ token: 'a-token-of-some-length' }),
      hostCheck: hostCheck({ host: '127.0.0.1', allowedHosts: [] }),
      problem,
    });
    server = await listen(api, { host: '127.0.0.1', port: 0 });
  });

  afterAll(async () => {
    await server.close();
    await runs.remove();
  });

  interface Response {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly body: unknown;
  }

  async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    const { statusCode, headers: answered, body } = await request(`${server.url}${path}`, { headers });
    const text = await body.text();
    return { status: statusCode, headers: answered, body: text === '' ? null : (JSON.parse(text) as unknown) };
  }

  interface Listed {
    readonly runs: readonly { readonly run_id: string }[];
    readonly total: number;
  }

  async function idsOf(query: string): Promise<string[]> {
    const { status, body } = await get(`/runs?${query}`);
    expect([query, status]).toEqual([query, 200]);
    return (body as Listed).runs.map(({ run_id }) => run_id);
  }

  /** A path of the description with run `first`, and what its parameters need. */
  const filled = (path: string): string =>
    path.replace('{run_id}', 'first').replace('scenarios/{name}', 'scenarios/long').replace('{name}', 'models');
  const needed = (path: string): string =>
    path.endsWith('/distribution')
      ? 'measure=request_latency'
      : path.endsWith('/series')
        ? 'quantity=requests_running'
        : path === '/compare'
          ? 'a=first&b=second'
          : '';

  describe('the routes match the description of the API', () => {
    // The runs of these tests are no sweep and were not started here: sweeps.test.ts and tests/start-runs.itest.ts have such runs.
    const elsewhere = ['/sweeps/{sweep_id}', '/starts/{run_id}'];
    const routes = describedRoutes().filter(({ path }) => !elsewhere.includes(path));

    test.each(routes.filter(({ response }) => response !== null))(
      '$path responds as described',
      async ({ path, response }) => {
        const address = `${filled(path)}?${needed(path)}`;
        const { status, body } = await get(address);
        expect(status).toBe(200);
        expect(complaints(response ?? '', body)).toEqual([]);
      },
    );

    test('the description rejects wrong responses', () => {
      expect(complaints(PROBLEM, { status: 400 })).not.toEqual([]);
      expect(complaints('/components/schemas/Status', { version: '1', api_version: 'v2', more: 1 })).not.toEqual([]);
    });

    test.each(routes.filter(({ response }) => response !== null))(
      '$path has these parameters and no others',
      async (route) => {
        const { status, body } = await get(`${filled(route.path)}?${needed(route.path)}&nothing=1`);
        expect(status).toBe(400);
        expect(complaints(PROBLEM, body)).toEqual([]);
        const names = route.parameters.filter((each) => each.in === 'query').map(({ name }) => name);
        const [wrong] = (body as { parameters: { name: string; value: string; allowed: string[] }[] }).parameters;
        expect(wrong).toMatchObject({ name: 'nothing', value: '1' });
        expect([...(wrong?.allowed ?? [])].sort()).toEqual(names.sort());
      },
    );

    const wrongValues = routes.flatMap(({ path, parameters }) =>
      parameters
        .filter((each) => each.in === 'query')
        .flatMap((parameter) => wrong(parameter).map((value) => ({ path, parameter, value }))),
    );

    test.each(wrongValues)('$path refuses $parameter.name=$value', async ({ path, parameter, value }) => {
      const query = new URLSearchParams(needed(path));
      query.set(parameter.name, value);
      const { status, headers, body } = await get(`${filled(path)}?${query.toString()}`);
      expect(status).toBe(400);
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
      expect(complaints(PROBLEM, body)).toEqual([]);
      const found = (body as { parameters: { name: string; value: string; allowed: string[] }[] }).parameters;
      expect(found).toMatchObject([{ name: parameter.name, value }]);
      const values = parameter.schema.enum ?? parameter.schema.items?.enum;
      if (values !== undefined) expect(found[0]?.allowed).toEqual(values);
    });

    const limits = routes.flatMap(({ path, parameters }) =>
      parameters.flatMap(({ name, schema: { minimum, maximum } }) =>
        [minimum, maximum].flatMap((value) => (value === undefined ? [] : [{ path, name, value }])),
      ),
    );

    test.each(limits)('$path takes $name=$value', async ({ path, name, value }) => {
      const { status, body } = await get(`${filled(path)}?${needed(path)}&${name}=${value}`);
      if (name !== 'stage') return expect(status).toBe(200);
      expect([status, body]).toEqual([422, expect.objectContaining({ detail: expect.stringContaining('no stages') })]);
    });

    test('accepts all described sort keys, values and fields', async () => {
      for (const { path, parameters } of routes) {
        for (const { name, schema } of parameters.filter((each) => each.in === 'query')) {
          for (const value of schema.enum ?? schema.items?.enum ?? []) {
            const extra = name === 'clock' && value === 'due' ? 'measure=schedule_delay' : needed(path);
            const query = new URLSearchParams(extra);
            query.set(name, value);
            const { status } = await get(`${filled(path)}?${query.toString()}`);
            expect([path, name, value, status]).toEqual([path, name, value, 200]);
          }
        }
      }
    });
  });

  /** Values that the description does not allow. */
  function wrong({ schema }: DescribedParameter): string[] {
    const { items = schema } = schema;
    if (items.enum !== undefined) return ['nonsense', ''];
    if (items.pattern !== undefined) return ['a/b', '../x', 'x'.repeat(65)];
    if (schema.type === 'integer') return [String((schema.maximum ?? 0) + 1), '-1', '1.5', '1e1', '0x10', '', 'NaN'];
    if (items.maxLength !== undefined) return ['x'.repeat(items.maxLength + 1)];
    if (schema.anyOf !== undefined)
      return ['yesterday', '2026-03-04', '2026-13-04T00:00:00Z', '-5', '99999999999999999'];
    return [];
  }

  describe('the list of runs', () => {
    test('has running and finished runs, newest first, those without a time last', async () => {
      expect(await idsOf('')).toEqual(['going', 'third', 'second', 'first', 'timeless']);
    });

    test('is filtered by each parameter, all of which must match', async () => {
      expect(await idsOf('status=running&status=failed')).toEqual(['going', 'third']);
      expect(await idsOf('status=running,failed')).toEqual(['going', 'third']);
      expect(await idsOf('scenario=long')).toEqual(['third']);
      expect(await idsOf(`model=${encodeURIComponent('other, "quoted"')}`)).toEqual(['second']);
      expect(await idsOf('model=other')).toEqual([]);
      expect(await idsOf('system=vllm')).toEqual(['first']);
      expect(await idsOf('system=')).toEqual(['going', 'third', 'second', 'timeless']);
      expect(await idsOf('tag=nightly&tag=weekly')).toEqual(['first']);
      expect(await idsOf('tag=nightly&scenario=long')).toEqual([]);
      expect(await idsOf('run_id=second&run_id=timeless')).toEqual(['second', 'timeless']);
      expect(await idsOf('q=EXAMPLE%20nightly')).toEqual(['first']);
      expect(await idsOf('tool=aiperf')).toEqual([]);
    });

    test('selects runs that overlap a time range; a running run extends to the end', async () => {
      expect(await idsOf('from=2026-03-04T05:00:09Z&to=2026-03-04T05:30:00Z')).toEqual(['first']);
      expect(await idsOf('from=2026-03-04T05:00:09.001Z&to=2026-03-04T05:30:00Z')).toEqual([]);
      expect(await idsOf(`to=${Date.parse('2026-03-04T05:00:00Z')}`)).toEqual(['first']);
      expect(await idsOf('from=2026-03-04T07:00:00%2B00:00')).toEqual(['going', 'third']);
      expect(await idsOf('from=2030-01-01T00:00:00Z')).toEqual(['going']);
    });

    test('is sorted by numbers and strings; runs without the value are last', async () => {
      expect(await idsOf('sort=requests')).toEqual(['third', 'timeless', 'second', 'first', 'going']);
      expect(await idsOf('sort=-requests')).toEqual(['first', 'second', 'third', 'timeless', 'going']);
      expect((await idsOf('sort=-scenario'))[0]).toBe('third');
      expect((await idsOf('sort=end')).slice(0, 3)).toEqual(['first', 'timeless', 'second']);
    });

    test('is paginated', async () => {
      expect(await idsOf('limit=2&page=2')).toEqual(['second', 'first']);
      const { body } = await get('/runs?limit=2&page=9');
      expect(body).toEqual({ runs: [], page: 9, limit: 2, total: 5 });
    });

    test('has the numbers of result.json', async () => {
      const { body } = await get('/runs?run_id=first');
      const result = await runs.store.readResult('first');
      const of = (measure: string) =>
        result.measures.find((each) => each.measure === measure && each.population === 'ok' && each.clock === 'sent');
      const latency = of('request_latency');
      const throughput = of('output_token_throughput');
      expect((body as { runs: unknown[] }).runs[0]).toMatchObject({
        tags: ['nightly'],
        duration_seconds: 9,
        progress: null,
        numbers: {
          requests: result.requests,
          request_latency_seconds: {
            definition: 'sent_to_last_content_chunk',
            n: result.requests.ok,
            p99: latency?.kind === 'distribution' ? latency.percentiles.p99.value : null,
          },
          output_token_throughput: throughput?.kind === 'scalar' ? throughput.value : null,
          goodput: null,
        },
      });
    });

    test('reports the progress of a running run', async () => {
      const { body } = await get('/runs?status=running');
      expect((body as { runs: unknown[] }).runs).toMatchObject([
        {
          run_id: 'going',
          end: null,
          numbers: null,
          // Twelve records, the first of which is the warm-up.
          progress: { phase: 'measure', requests_done: 11, requests_planned: 10, planned_seconds: null },
        },
      ]);
    });
  });

  describe('one run', () => {
    test('returns its files unchanged', async () => {
      const { body } = await get('/runs/first');
      expect(body).toMatchObject({
        run: await runs.store.readRun('first'),
        result: await runs.store.readResult('first'),
        has_servers: true,
      });
    });

    test('has no result while it lasts, and no records', async () => {
      expect((await get('/runs/going')).body).toMatchObject({ run: { status: 'running' }, result: null });
      const { status, body } = await get('/runs/going/records');
      expect([status, (body as { detail: string }).detail]).toEqual([
        404,
        'run going has not ended: available after its end',
      ]);
    });

    test.each([
      ['/runs/absent', 404],
      ['/runs/broken', 422],
      ['/runs/broken/records', 422],
      ['/runs/..%2f..%2fetc%2fpasswd', 400],
      ['/runs/a%00b', 400],
      ['/runs/__proto__', 400],
      ['/runs/second/servers', 404],
      ['/runs/second/first-token-time', 404],
      ['/runs/second/series?quantity=requests_running', 404],
      ['/runs/first/series', 400],
      ['/values/__proto__', 400],
      ['/values/constructor', 400],
      ['/scenarios/none', 404],
      ['/nothing', 404],
      ['/Runs', 404],
      ['/runs/%', 400],
    ])('%s is %d, in the common format, without the path of the runs', async (path, expected) => {
      const { status, body } = await get(path);
      expect([path, status]).toEqual([path, expected]);
      expect(complaints(PROBLEM, body)).toEqual([]);
      expect(JSON.stringify(body)).not.toContain(runs.store.directory);
    });

    test('the selected series of its servers', async () => {
      const families = async (query: string): Promise<string[]> => {
        const { body } = await get(`/runs/first/servers?${query}`);
        return (body as { series: { family: string }[] }).series.map(({ family }) => family);
      };
      expect(await families('')).toHaveLength(3);
      expect(await families('quantity=requests_running')).toEqual(['vllm:num_requests_running']);
      expect(await families('family=vllm:preemptions&quantity=prompt_tokens_total')).toHaveLength(2);
      expect(await families('target=http://gpu-2/metrics')).toEqual([]);
    });

    test('its mean time to first token in parts; null where no server observes it', async () => {
      expect((await get('/runs/first/first-token-time')).body).toEqual({ run_id: 'first', first_token_time: null });
      // Of three ok requests, whose first content came 20 ms after they were sent.
      expect((await get('/runs/timeless/first-token-time')).body).toMatchObject({
        first_token_time: {
          requests: 3,
          parts: [{ part: 'queue' }, { part: 'prefill' }, { part: 'outside' }],
          notes: [],
        },
      });
    });

    test('server metrics over time', async () => {
      const { body } = await get('/runs/first/series?quantity=requests_running&family=vllm:prompt_tokens_total');
      const common = {
        target: 'http://gpu-1:8000/metrics',
        labels: { engine: '0' },
        scrapes_per_point: 1,
        seconds: [0, 1, 2],
      };
      expect(body).toEqual({
        run_id: 'first',
        zero: { start: '2026-03-04T05:00:00.000Z', measure_seconds: 0 },
        series: [
          {
            ...common,
            family: 'vllm:num_requests_running',
            quantity: 'requests_running',
            as: 'value',
            values: [1, 2, 2],
          },
          { ...common, family: 'vllm:prompt_tokens_total', quantity: null, as: 'per_second', values: [null, 0, 640] },
        ],
      });
    });

    test('its records by column, thinned evenly, with the sampling reported', async () => {
      const { body } = await get('/runs/first/records?fields=index,outcome&phase=measure&limit=30');
      expect(body).toMatchObject({
        zero: { start: '2026-03-04T05:00:00.000Z', measure_seconds: 0 },
        // 99 of the measure phase: every fourth of them.
        sampled: { shown: 25, of: 99, every: 4 },
      });
      const { columns } = body as { columns: { index: number[] } };
      expect(columns.index.slice(0, 3)).toEqual([1, 5, 9]);
      expect(Object.keys(columns)).toEqual(['index', 'outcome']);
    });
  });

  describe('values and annotations', () => {
    test('values are counted over the matching runs', async () => {
      expect((await get('/values/models')).body).toEqual({
        name: 'models',
        values: [
          { value: 'example-model', runs: 4 },
          { value: 'other, "quoted"', runs: 1 },
        ],
      });
      expect((await get('/values/tags?status=failed')).body).toEqual({ name: 'tags', values: [] });
    });

    test('regions of runs and phases, open while running; none without a time', async () => {
      const { body } = await get('/annotations');
      const { annotations, total } = body as { annotations: Record<string, unknown>[]; total: number };
      expect(total).toBe(4);
      expect(annotations.map(({ id, timeEnd }) => [id, timeEnd === null])).toEqual([
        ['going', true],
        ['going/warmup', false],
        ['going/measure', true],
        ['third', false],
        ['third/measure', false],
        ['second', false],
        ['second/measure', false],
        ['first', false],
        ['first/measure', false],
      ]);
      expect(annotations[7]).toMatchObject({
        time: Date.parse('2026-03-04T05:00:00.000Z'),
        timeEnd: Date.parse('2026-03-04T05:00:09.000Z'),
        tags: ['llmbench', 'scenario:example', 'model:example-model', 'system:vllm', 'status:completed', 'tool:llmbench', 'nightly'], // prettier-ignore
      });
    });

    test('one kind, with a limit on runs', async () => {
      const { body } = await get('/annotations?kind=phase&limit=1');
      expect((body as { annotations: { id: string }[] }).annotations.map(({ id }) => id)).toEqual([
        'going/warmup',
        'going/measure',
      ]);
      expect((await get('/annotations?kind=stage')).body).toEqual({ annotations: [], total: 4 });
    });
  });

  describe('the service', () => {
    test('reports its status, and damaged runs without their paths', async () => {
      const { body } = await get('/status');
      expect(body).toMatchObject({ version: '0.1.0', runs: { finished: 4, running: 1, damaged: 1 } });
      expect(body).toMatchObject({
        damaged: [{ run_id: 'broken', reason: expect.stringContaining('broken/run.json') }],
      });
      expect(JSON.stringify(body)).not.toContain(runs.store.directory);
    });

    test('unchanged content returns 304, compressed or not', async () => {
      const first = await get('/runs/first');
      const tag = String(first.headers['etag']);
      expect(tag).toMatch(/^W\/"[\w-]+"$/);
      expect(await get('/runs/first', { 'if-none-match': tag })).toMatchObject({ status: 304, body: null });
      expect(await get('/runs/second', { 'if-none-match': tag })).toMatchObject({ status: 200 });
      const { headers, body } = await request(`${server.url}/runs/first`, { headers: { 'accept-encoding': 'gzip' } });
      expect(headers).toMatchObject({ 'content-encoding': 'gzip', etag: tag, vary: 'Accept-Encoding, Authorization' });
      const text = gunzipSync(Buffer.from(await body.arrayBuffer())).toString();
      expect(JSON.parse(text)).toEqual(first.body);
    });

    test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const)(
      '%s is rejected: what is described is only read',
      async (method) => {
        const { statusCode, headers, body } = await request(`${server.url}/runs/first/requests`, { method });
        expect([statusCode, headers['allow']]).toEqual([405, 'GET, HEAD']);
        expect(headers['access-control-allow-origin']).toBeUndefined();
        expect(complaints(PROBLEM, await body.json())).toEqual([]);
      },
    );

    test.each([{ host: 'evil.example' }, { origin: 'http://evil.example' }, { origin: 'null' }])(
      'a page of another site is refused: %p',
      async (headers) => {
        const { status, body } = await get('/runs', headers);
        expect(status).toBe(403);
        expect(complaints(PROBLEM, body)).toEqual([]);
      },
    );

    test('serves the description and the schemas that it references', async () => {
      const { body } = await request(`${server.url}/openapi.yaml`);
      const references = new Set((await body.text()).match(/\.\/\w+\.schema\.json/g));
      expect(references.size).toBe(6);
      for (const reference of references) {
        expect((await get(reference.slice(1))).body).toHaveProperty('$schema');
      }
    });

    test('all of this without a log line', () => expect(problems).toEqual([]));
  });
});

describe('in flight', () => {
  let server: Listening;
  let begun: { readonly id: string; readonly end: () => void }[];

  beforeEach(async () => {
    begun = [];
    const app = express();
    app.use(limitInFlight({ maxInFlight: 1, maxWaiting: 1 }));
    app.get('/:id', (asked, response) => {
      begun.push({ id: asked.params.id, end: () => void response.send(asked.params.id) });
    });
    app.use(problemHandler(() => undefined));
    server = await listen(app, { host: '127.0.0.1', port: 0 });
  });
  afterEach(() => server.close());

  const status = async (answer: ReturnType<typeof request>): Promise<number> => {
    const { statusCode, body } = await answer;
    await body.dump();
    return statusCode;
  };

  test('one is processed, one waits, a third must retry', async () => {
    const first = request(`${server.url}/first`);
    await until(() => begun.length >= 1);
    const others = [request(`${server.url}/second`), request(`${server.url}/third`)];
    const refused = await Promise.race(others.map(async (answer, i) => ({ i, answer: await answer })));
    expect([refused.answer.statusCode, refused.answer.headers['retry-after']]).toEqual([503, '1']);
    await refused.answer.body.dump();
    expect(begun).toHaveLength(1);
    begun[0]?.end();
    expect(await status(first)).toBe(200);
    await until(() => begun.length >= 2);
    begun[1]?.end();
    const waited = others[1 - refused.i];
    expect(waited && (await status(waited))).toBe(200);
  });

  /** Requests whose responses end by an event. */
  function fakeClients(limit: RequestHandler) {
    const turn: string[] = [];
    const ask = (name: string, remoteAddress = '192.0.2.1'): EventEmitter => {
      const response = new EventEmitter();
      limit({ socket: { remoteAddress } } as never, response as never, () => void turn.push(name));
      return response;
    };
    return { turn, ask };
  }

  test('a client that disconnects while waiting frees its place', async () => {
    const { turn, ask } = fakeClients(limitInFlight({ maxInFlight: 1, maxWaiting: 1 }));
    const first = ask('first');
    const impatient = ask('impatient');
    expect(() => ask('refused')).toThrow('2 requests of this kind are in progress');
    impatient.emit('close');
    ask('next');
    expect(turn).toEqual(['first']);
    first.emit('close');
    await until(() => turn.length > 1);
    expect(turn).toEqual(['first', 'next']);
  });

  test('who waits too long must retry, and is no longer in the queue', async () => {
    const app = express();
    app.use(limitInFlight({ maxInFlight: 1, maxWaiting: 1, maxWait_ms: 20 }));
    app.get('/:id', (asked, response) => {
      begun.push({ id: asked.params.id, end: () => void response.send(asked.params.id) });
    });
    app.use(problemHandler(() => undefined));
    const impatient = await listen(app, { host: '127.0.0.1', port: 0 });
    try {
      const first = request(`${impatient.url}/first`);
      await until(() => begun.length >= 1);
      for (const name of ['second', 'third']) expect(await status(request(`${impatient.url}/${name}`))).toBe(503);
      begun[0]?.end();
      expect(await status(first)).toBe(200);
      expect(begun).toHaveLength(1);
    } finally {
      await impatient.close();
    }
  });

  test('the requests of one client leave a place for others', async () => {
    const { turn, ask } = fakeClients(limitInFlight({ maxInFlight: 3, maxWaiting: 10 }));
    const one = ask('a1', '192.0.2.1');
    ask('a2', '192.0.2.1');
    ask('a3', '192.0.2.1');
    expect(turn).toEqual(['a1', 'a2']);
    ask('b1', '192.0.2.2');
    ask('b2', '192.0.2.2');
    expect(turn).toEqual(['a1', 'a2', 'b1']);
    one.emit('close');
    await until(() => turn.length > 3);
    expect(turn).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  describe('a client that does not read', () => {
    const BYTES = 64 * 1024 * 1024;
    let slow: Socket | undefined;
    let heavy: Listening;

    beforeEach(async () => {
      const app = express();
      app.use(limitInFlight({ maxInFlight: 1, maxWaiting: 1, minBytesPerSecond: 1000, window_ms: 200 }));
      app.get('/heavy', (asked, response) => sendJson(asked, response, 'x'.repeat(BYTES)));
      app.get('/late', (_asked, response) => void setTimeout(() => response.send('late'), 1000));
      heavy = await listen(app, { host: '127.0.0.1', port: 0 });
    });
    afterEach(async () => {
      slow?.destroy();
      await heavy.close();
    });

    const statusOf = async (path: string): Promise<number> => status(request(`${heavy.url}${path}`));

    test('loses its place to the next', async () => {
      slow = connect(heavy.port, '127.0.0.1');
      slow.pause();
      slow.on('error', () => undefined);
      slow.write('GET /heavy HTTP/1.1\r\nHost: x\r\n\r\n');
      await new Promise((resolve) => slow?.once('readable', resolve));
      expect(await statusOf('/late')).toBe(200);
    });

    test('is not one that waits for a response which takes its time', async () => {
      expect(await statusOf('/late')).toBe(200);
      expect(await statusOf('/heavy')).toBe(200);
    });
  });
});
