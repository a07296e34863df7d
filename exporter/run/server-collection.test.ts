import { afterEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { monotonicNow_ns, runEpoch } from '../clock/monotonic-clock.ts';
import type { PhaseResult } from '../load/load-generator.ts';
import { parseTarget } from '../servers/scrape/targets.ts';
import { metricsServer, page } from '../servers/testing/metrics-server.ts';
import type { ServersFile } from '../../core/run/servers-file.ts';
import { ServerCollection, type CollectedServers } from './server-collection.ts';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

const REQUEST = {
  targets: [],
  discoverLocal: false,
  discovery: false,
  intervalSeconds: 60,
  drainTimeoutSeconds: 5,
  sliceSeconds: null,
  definitions: 'llmbench' as const,
  formats: [],
  hasOtherShards: false,
};

interface ServerState {
  finished: number;
  running: number;
  readonly start?: number;
  /** Before the names of the engine. */
  readonly prefix?: string;
}

/** A server whose finished requests the test moves by hand. */
async function measured(state: ServerState, request = REQUEST) {
  return begun([await servedPage(() => state)], request);
}

/** A metrics page of what is returned at each request. */
async function servedPage(stateNow: () => ServerState): Promise<string> {
  const server = await metricsServer((_, response) => {
    const state = stateNow();
    const engine = state.prefix ?? 'vllm:';
    page(
      response,
      [
        `process_start_time_seconds ${state.start ?? 1000}`,
        `# TYPE ${engine}num_requests_running gauge`,
        `${engine}num_requests_running ${state.running}`,
        `# TYPE ${engine}e2e_request_latency_seconds histogram`,
        `${engine}e2e_request_latency_seconds_bucket{le="1"} ${state.finished}`,
        `${engine}e2e_request_latency_seconds_bucket{le="+Inf"} ${state.finished}`,
        `${engine}e2e_request_latency_seconds_sum ${state.finished / 2}`,
        `${engine}e2e_request_latency_seconds_count ${state.finished}`,
        '',
      ].join('\n'),
    );
  });
  cleanUp.push(() => server.close());
  return server.origin;
}

async function begun(origins: readonly string[], request = REQUEST) {
  const epoch = runEpoch();
  const now_ns = (): number => monotonicNow_ns() - epoch.monotonic_ns;
  const servers = new ServerCollection(origins.map(parseTarget), request, epoch, () => undefined);
  cleanUp.push(() => servers.stop());
  await servers.begin();
  return { servers, now_ns };
}

/** A measure phase of that many good requests. */
function phase(start_ns: number, end_ns: number, ok: number): PhaseResult {
  const counts = { ok, error: 0, timeout: 0, cancelled: 0 };
  return { phase: 'measure', start_ns, end_ns, requests: counts, errors: {} } as unknown as PhaseResult;
}

const never = new AbortController().signal;

async function schemaErrors(servers: unknown): Promise<unknown> {
  const path = new URL('../../schemas/result.schema.json', import.meta.url);
  const schema = JSON.parse(await readFile(path, 'utf8')) as { $defs: object; properties: { servers: object } };
  const ajv = new Ajv2020({ allowUnionTypes: true });
  addFormats.default(ajv);
  const valid = ajv.compile({ ...schema.properties.servers, $defs: schema.$defs });
  return valid(servers) ? [] : valid.errors;
}

describe("the servers' side of a run", () => {
  test('holds the requests of the measure phase and not those of the warm-up', async () => {
    const state = { finished: 0, running: 0 };
    const { servers, now_ns } = await measured(state);
    await servers.beforePhase('warmup', never);
    state.finished = 7;
    await servers.beforePhase('measure', never);
    const start_ns = now_ns();
    state.finished = 27;
    const end_ns = now_ns();
    const { result } = await servers.finish([phase(start_ns, end_ns, 20)], never);
    expect(result).toMatchObject({ exact: true, why: null, requests: { server: 20, client: 20, difference: 0 } });
    expect(result.collector.cpu_share).toBeLessThan(1);
  });

  test('counts that Ray exposes seconds after the last response are waited for', async () => {
    const state = { finished: 0, running: 0, prefix: 'ray_vllm_' };
    const { servers, now_ns } = await measured(state, { ...REQUEST, drainTimeoutSeconds: 0 });
    await servers.beforePhase('measure', never);
    const start_ns = now_ns();
    const reported = setTimeout(() => (state.finished = 20), 8000);
    const { result } = await servers.finish([phase(start_ns, now_ns(), 20)], never);
    clearTimeout(reported);
    expect(result).toMatchObject({ exact: true, requests: { server: 20, client: 20 } });
    expect(result.targets[0]?.notes).toEqual(['Ray exposes values up to 10 s after the engine counted them']);
  }, 60_000);

  test('the end of an interrupted run does not wait for Ray', async () => {
    const { servers, now_ns } = await measured({ finished: 0, running: 0, prefix: 'ray_vllm_' });
    const start_ns = now_ns();
    const before = performance.now();
    const { result } = await servers.finish([phase(start_ns, now_ns(), 20)], AbortSignal.abort());
    expect(performance.now() - before).toBeLessThan(8000);
    expect(result.why).toBe('not exact: the servers counted 20 requests fewer than the client');
  });

  test("requests of others are counted as such: '+3'", async () => {
    const state = { finished: 0, running: 0 };
    const { servers, now_ns } = await measured(state);
    await servers.beforePhase('measure', never);
    const start_ns = now_ns();
    state.finished = 23;
    const { result } = await servers.finish([phase(start_ns, now_ns(), 20)], never);
    expect(result).toMatchObject({ exact: false, why: 'not exact: +3 requests from other clients' });
  });

  test('requests that failed at the client alone are not taken for those of others', async () => {
    const state = { finished: 0, running: 0 };
    const { servers, now_ns } = await measured(state);
    await servers.beforePhase('measure', never);
    const failed = { ...phase(now_ns(), now_ns(), 20), errors: { malformed_event: 3 } } as const;
    state.finished = 23;
    const { result } = await servers.finish([failed], never);
    expect(result).toMatchObject({ exact: false, requests: { difference: 3 } });
    expect(result.why).toBe(
      "not exact: +3 requests, which may be this run's own that failed at the client: 3 malformed_event",
    );
  });

  test("the requests of a run's other shards are not those of other clients", async () => {
    const state = { finished: 0, running: 0 };
    const { servers, now_ns } = await measured(state, { ...REQUEST, hasOtherShards: true });
    await servers.beforePhase('measure', never);
    const start_ns = now_ns();
    state.finished = 40;
    const { result } = await servers.finish([phase(start_ns, now_ns(), 20)], never);
    expect(result).toMatchObject({ exact: false, requests: null });
    expect(result.why).toBe('not exact: the servers also count the requests of the other shards');
  });

  test('a restart during the run is not exact', async () => {
    const state = { finished: 5, running: 0, start: 1000 };
    const { servers, now_ns } = await measured(state);
    await servers.beforePhase('measure', never);
    const start_ns = now_ns();
    Object.assign(state, { finished: 20, start: 2000 });
    const { result } = await servers.finish([phase(start_ns, now_ns(), 20)], never);
    expect(result.why).toMatch(/restarted/);
    expect(result.targets[0]?.notes).toEqual([
      expect.stringMatching(/restarted: its counts of up to [\d.]+ \w+ before the restart are lost/),
    ]);
  });

  test('several servers that answer by turns are named as such, not as restarts of one', async () => {
    let pages = 0;
    const state = {
      ...{ finished: 5, running: 0 },
      get start() {
        return (pages += 1) % 2 === 0 ? 1000 : 2000;
      },
    };
    const { servers, now_ns } = await measured(state);
    await servers.beforePhase('measure', never);
    const start_ns = now_ns();
    state.finished = 20;
    const { result } = await servers.finish([phase(start_ns, now_ns(), 20)], never);
    expect(result.targets).toMatchObject([{ state: 'several_servers' }]);
    expect(result.why).toBe(`not exact: several servers answer at ${result.targets[0]?.target}`);
  });

  describe('a load balancer and the servers behind it', () => {
    /** Requests that the two servers counted, of 20 that the client sent. */
    async function balanced(counts: readonly [number, number]) {
      const states: readonly (ServerState & { finished: number })[] = [
        { finished: 5, running: 0, start: 1000 },
        { finished: 9, running: 0, start: 2000 },
      ];
      let pages = 0;
      const behind = await Promise.all(states.map((state) => servedPage(() => state)));
      const balancer = await servedPage(() => states[(pages += 1) % 2] as ServerState);
      const { servers, now_ns } = await begun([balancer, ...behind]);
      await servers.beforePhase('measure', never);
      const start_ns = now_ns();
      states.forEach((state, i) => (state.finished += counts[i] ?? 0));
      const { result } = await servers.finish([phase(start_ns, now_ns(), 20)], never);
      return { result, balancer: result.targets[0] };
    }

    test('their own pages count, and the page of the load balancer does not', async () => {
      const { result, balancer } = await balanced([13, 7]);
      expect(balancer).toMatchObject({ state: 'several_servers' });
      expect(result).toMatchObject({ exact: true, why: null, requests: { server: 20, client: 20 } });
    });

    test('one whose page is not known is missed', async () => {
      const { result, balancer } = await balanced([13, 2]);
      const fewer = 'the servers counted 5 requests fewer than the client';
      expect(result.why).toBe(`not exact: several servers answer at ${balancer?.target}, and ${fewer}`);
    });
  });

  describe('a histogram whose observations come later than the count of requests', () => {
    /** `prefills`: the observations in seconds that the page shows. */
    async function late(): Promise<
      { state: { finished: number; prefills: number[] }; asked: readonly string[] } & Awaited<ReturnType<typeof begun>>
    > {
      const state = { finished: 0, prefills: [] as number[] };
      const server = await metricsServer((_, response) => {
        const seconds = state.prefills.reduce((sum, each) => sum + each, 0);
        const histogram = (name: string, count: number, sum: number): string =>
          `# TYPE ${name} histogram\n${name}_bucket{le="+Inf"} ${count}\n${name}_sum ${sum}\n${name}_count ${count}\n`;
        page(
          response,
          histogram('vllm:e2e_request_latency_seconds', state.finished, state.finished) +
            histogram('vllm:request_prefill_time_seconds', state.prefills.length, seconds),
        );
      });
      cleanUp.push(() => server.close());
      return { state, asked: server.asked, ...(await begun([server.origin])) };
    }
    const prefill = async (servers: CollectedServers): Promise<unknown> => {
      const directory = await mkdtemp(join(tmpdir(), 'servers-'));
      cleanUp.push(() => rm(directory, { recursive: true }));
      await servers.write(directory, 'r', 'llmbench 0');
      const { series } = JSON.parse(await readFile(join(directory, 'servers.json'), 'utf8')) as ServersFile;
      return series.find(({ family }) => family === 'vllm:request_prefill_time_seconds')?.statistics;
    };

    test('is waited for at both ends of the measurement', async () => {
      const { state, servers, now_ns } = await late();
      state.finished = 1;
      setTimeout(() => state.prefills.push(5), 700);
      await servers.beforePhase('measure', never);
      const start_ns = now_ns();
      state.finished = 6;
      setTimeout(() => state.prefills.push(...new Array<number>(5).fill(0.1)), 700);
      const collected = await servers.finish([phase(start_ns, now_ns(), 5)], never);
      expect(collected.result).toMatchObject({ exact: true, why: null });
      expect(collected.result).not.toHaveProperty('inexact_families');
      expect(await prefill(collected)).toMatchObject({ count: 5, mean: expect.closeTo(0.1, 9) as unknown });
    }, 60_000);

    test('and comes too late is not exact, while the others are', async () => {
      const { state, servers, now_ns } = await late();
      state.finished = 1;
      await servers.beforePhase('measure', never);
      const start_ns = now_ns();
      state.finished = 6;
      state.prefills.push(5, 0.1, 0.1, 0.1);
      const collected = await servers.finish([phase(start_ns, now_ns(), 5)], never);
      expect(collected.result).toMatchObject({
        exact: true,
        inexact_families: [{ family: 'vllm:request_prefill_time_seconds', observations: 4, requests: 5 }],
      });
      const lines = await collected.store(tmpdir(), 'no-such-run', 'llmbench 0');
      expect(lines[0]).toBe(
        'servers: not exact for vllm:request_prefill_time_seconds, which comes late: 4 observations, 5 requests',
      );
      expect(await schemaErrors(collected.result)).toEqual([]);
    }, 60_000);

    test('is waited for once if no request of this kind observes it, and is no late one', async () => {
      const { state, servers, now_ns, asked } = await late();
      // Those of a chat before; an embedding has no prefill time here.
      state.prefills.push(0.1);
      state.finished = 2;
      await servers.beforePhase('measure', never);
      const waited = asked.length;
      const start_ns = now_ns();
      state.finished = 7;
      const collected = await servers.finish([phase(start_ns, now_ns(), 5)], never);
      expect(collected.result).toMatchObject({ exact: true, why: null });
      expect(collected.result).not.toHaveProperty('inexact_families');
      // The second wait would take as many pages as the first.
      expect(waited).toBeGreaterThan(10);
      expect(asked.length - waited).toBeLessThan(10);
    }, 60_000);

    test('is not waited for where a server that has been used for long has none', async () => {
      const server = await metricsServer((_, response, i) => {
        const histogram = (name: string, count: number): string =>
          `# TYPE ${name} histogram\n${name}_bucket{le="+Inf"} ${count}\n${name}_sum ${count}\n${name}_count ${count}\n`;
        page(
          response,
          histogram('vllm:e2e_request_latency_seconds', i === 0 ? 500 : 501) +
            histogram('vllm:request_prefill_time_seconds', 0),
        );
      });
      cleanUp.push(() => server.close());
      const { servers } = await begun([server.origin]);
      await servers.beforePhase('measure', never);
      // The wait would take 4 s, with a page every 100 ms.
      expect(server.asked.length).toBeLessThan(10);
    }, 60_000);
  });

  test('a run without a measure phase has no requests to compare', async () => {
    const { servers } = await measured({ finished: 5, running: 0 });
    const { result } = await servers.finish([], never);
    expect(result).toMatchObject({ exact: null, requests: null });
  });

  test('the files are written, and the summary is as the published schema says', async () => {
    const state = { finished: 0, running: 0 };
    const { servers, now_ns } = await measured(state);
    await servers.beforePhase('measure', never);
    const start_ns = now_ns();
    state.finished = 4;
    const collected = await servers.finish([phase(start_ns, now_ns(), 4)], never);
    const directory = await mkdtemp(join(tmpdir(), 'servers-'));
    cleanUp.push(() => rm(directory, { recursive: true }));
    await collected.write(directory, 'r', 'llmbench 0');
    expect((await readdir(directory)).sort()).toEqual(['servers.json', 'servers.parquet']);
    expect(JSON.parse(await readFile(join(directory, 'servers.json'), 'utf8'))).toMatchObject({ run_id: 'r' });

    expect(await schemaErrors(collected.result)).toEqual([]);
    expect(await schemaErrors(null)).toEqual([]);
    expect(await schemaErrors({ targets: [] })).not.toEqual([]);
  });
});
