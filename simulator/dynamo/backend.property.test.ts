import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { TIGHT_PARAMETERS, drawnMoment, drawnRequests } from '../engine/testing/drawn-load.ts';
import type { DrawnRequest } from '../engine/testing/drawn-load.ts';
import type { EngineEvent } from '../engine/events.ts';
import { GpuLoad } from '../dcgm/dcgm-metrics.ts';
import type { Reply } from '../http/engine-driver.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import type { SimulatedPage } from '../metrics/testing/read-page.ts';
import { DynamoBackend } from './backend.ts';
import { DynamoProfile } from './profile.ts';
import { DynamoWorker } from './worker.ts';

const MS = 1e6;
// Each run writes and parses four pages: a failure is shown as it is, not made smaller.
const RUNS = { numRuns: 12, endOnFailure: true };
const WORKERS = [0, 1, 2];
const PARAMETERS = {
  ...TIGHT_PARAMETERS,
  offloadTiers: [{ name: 'host', blocks: 30, loadMillisecondsPerBlock: 0.5 }],
};

/** A clock that stands where the test puts it. */
class SetClock {
  readonly origin_ns = 0n;
  time_ns = 0;

  now_ns(): number {
    return this.time_ns;
  }

  absolute_ns(time_ns: number): number {
    return time_ns;
  }
}

class CountingReply implements Reply {
  failures = 0;

  token(): void {
    // Tokens are counted as events.
  }

  finished(): void {
    // So are ends.
  }

  flush(): void {
    // There is no receiver.
  }

  failed(): void {
    this.failures++;
  }
}

interface Happened {
  readonly frontend: SimulatedPage;
  readonly workers: readonly SimulatedPage[];
  readonly events: readonly EngineEvent[];
  readonly submitted: number;
  readonly failures: number;
}

/** Runs a load on three workers to `until_ns`; the worker `lost` goes away at `lostAt_ns`. */
function run(load: readonly DrawnRequest[], until_ns: number, lost: number | null, lostAt_ns = 0): Happened {
  const clock = new SetClock();
  const instance = (id: number) => ({ hex: id.toString(16), decimal: `${id}` });
  const profile = new DynamoProfile(instance(255), 'm', PARAMETERS);
  const backend = new DynamoBackend({ profile, parameters: PARAMETERS, clock, hotWorker: null });
  const events: EngineEvent[] = [];
  const observe = (portion: readonly EngineEvent[]): void => {
    events.push(...portion);
    backend.observe(portion);
  };
  const workers = WORKERS.map((index) => {
    const gpu = new GpuLoad(PARAMETERS);
    const options = { instance: instance(index), model: 'm', parameters: PARAMETERS, clock, gpu, observe };
    const worker = new DynamoWorker(options);
    backend.attach(index, worker);
    return worker;
  });
  const replies = load.map(() => new CountingReply());
  let submitted = 0;
  const submit = (index: number, request: Omit<DrawnRequest, 'abortAfter_ns'>): void => {
    submitted++;
    const reply = replies[index] ?? new CountingReply();
    backend.submit({ ...request, id: `r${index}`, arrival_ns: backend.nextArrival_ns() }, reply);
  };
  const acts = load.flatMap(({ abortAfter_ns, ...request }, i) => [
    { at_ns: request.arrival_ns, act: () => submit(i, request) },
    { at_ns: request.arrival_ns + (abortAfter_ns ?? Infinity), act: () => backend.abort(`r${i}`) },
  ]);
  if (lost !== null) acts.push({ at_ns: lostAt_ns, act: () => backend.detach(lost) });
  acts.sort((a, b) => a.at_ns - b.at_ns);
  for (const { at_ns, act } of acts) {
    if (at_ns > until_ns) break;
    clock.time_ns = at_ns;
    backend.state();
    act();
  }
  clock.time_ns = Math.max(until_ns, clock.time_ns);
  const frontend = readPage(profile.metricsPage(backend.state()));
  const pages = workers.map((worker) => readPage(worker.page()));
  for (const worker of workers) worker.driver.close();
  const failures = replies.reduce((sum, reply) => sum + reply.failures, 0);
  return { frontend, workers: pages, events, submitted, failures };
}

const total = (pages: readonly SimulatedPage[], of: (page: SimulatedPage) => number): number =>
  pages.reduce((sum, page) => sum + of(page), 0);
const generate = { dynamo_endpoint: 'generate' };
const frontendCount = (page: SimulatedPage, name: string): number => page.sum(`dynamo_frontend_${name}_count`);

describe('at any moment of any load', () => {
  test("the frontend's requests are the workers', and its tokens theirs", () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (load, until_ns) => {
        const { frontend, workers, events, submitted } = run(load, until_ns, null);
        const started = frontend.sum('dynamo_frontend_requests_started_total');
        expect(started).toBe(submitted);
        expect(frontend.value('dynamo_component_router_requests_total')).toBe(started);
        expect(total(workers, (page) => page.value('dynamo_component_requests_total', generate))).toBe(started);
        const tokens = events.filter(({ kind }) => kind === 'token').length;
        const firstTokens = events.filter((event) => event.kind === 'token' && event.index === 0).length;
        expect(frontend.sum('dynamo_frontend_output_tokens_total')).toBe(tokens);
        expect(total(workers, (page) => page.value('vllm:generation_tokens_total'))).toBe(tokens);
        expect(frontendCount(frontend, 'time_to_first_token_seconds')).toBe(firstTokens);
        expect(frontendCount(frontend, 'input_sequence_tokens')).toBe(firstTokens);
        expect(frontendCount(frontend, 'inter_token_latency_seconds')).toBe(tokens - firstTokens);
        expect(frontend.value('dynamo_component_router_inter_token_latency_seconds_count')).toBe(0);
        const engines_s = total(workers, (page) => page.value('vllm:time_to_first_token_seconds_sum'));
        expect(frontend.sum('dynamo_frontend_time_to_first_token_seconds_sum')).toBeGreaterThanOrEqual(engines_s);
      }),
      RUNS,
    );
  });

  test('what has started and not ended is in flight, there and here', () => {
    fc.assert(
      fc.property(drawnRequests, drawnMoment, (load, until_ns) => {
        const { frontend, workers, events } = run(load, until_ns, null);
        const ended = (kind: string): number => events.filter((event) => event.kind === kind).length;
        const requests = (labels: Record<string, string>) => frontend.sum('dynamo_frontend_requests_total', labels);
        expect(requests({ status: 'success' })).toBe(ended('finished'));
        expect(requests({ error_type: 'cancelled' })).toBe(ended('aborted'));
        expect(frontend.sum('dynamo_frontend_model_cancellation_total')).toBe(ended('aborted'));
        expect(frontendCount(frontend, 'request_duration_seconds')).toBe(requests({}));
        const inFlight = frontend.sum('dynamo_frontend_requests_started_total') - requests({});
        expect(frontend.sum('dynamo_frontend_active_requests')).toBe(inFlight);
        expect(frontend.sum('dynamo_frontend_inflight_requests')).toBe(inFlight);
        expect(total(workers, (page) => page.value('dynamo_component_inflight_requests', generate))).toBe(inFlight);
        const queued = frontend.sum('dynamo_frontend_queued_requests');
        expect(frontend.sum('dynamo_frontend_stage_requests')).toBe(queued);
        expect(queued).toBeLessThanOrEqual(inFlight);
        const cancelled = total(workers, (page) => page.value('dynamo_component_cancellation_total', generate));
        expect(cancelled).toBe(ended('aborted'));
        for (const page of workers) {
          const usage = page.value('dynamo_component_gpu_cache_usage_percent');
          expect(usage).toBeGreaterThanOrEqual(0);
          expect(usage).toBeLessThanOrEqual(1);
          expect(usage).toBe(page.value('vllm:kv_cache_usage_perc'));
        }
      }),
      RUNS,
    );
  });

  test('a lost worker fails what it worked on; everything else ends as it should', () => {
    const AFTER_ALL_NS = 20_000 * MS;
    fc.assert(
      fc.property(drawnRequests, fc.integer({ min: 1, max: 800 * MS }), (load, lostAt_ns) => {
        const { frontend, failures } = run(load, AFTER_ALL_NS, 1, lostAt_ns);
        const ended = frontend.sum('dynamo_frontend_requests_total');
        expect(ended).toBe(load.length);
        expect(frontend.sum('dynamo_frontend_requests_total', { error_type: 'internal' })).toBe(failures);
        expect(frontend.sum('dynamo_frontend_model_migration_total')).toBe(failures);
        expect(frontend.value('dynamo_component_router_worker_registered', { router_worker_id: '1' })).toBe(0);
        expect(frontend.sum('dynamo_frontend_active_requests')).toBe(0);
      }),
      RUNS,
    );
  });
});
