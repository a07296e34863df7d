import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { captureText } from '../../../fixtures/captures.ts';
import { loadCatalog } from '../../../catalog/load.ts';
import type { EngineParameters } from '../../engine/parameters.ts';
import { NO_FAULTS } from '../../faults/plan.ts';
import type { FaultPlan } from '../../faults/plan.ts';
import { startSimulator } from '../../main.ts';
import type { RunningSimulator } from '../../main.ts';
import { pageShape } from '../../metrics/testing/page-shape.ts';
import { readPage } from '../../metrics/testing/read-page.ts';
import type { SimulatedPage } from '../../metrics/testing/read-page.ts';
import { until } from '../../../core/testing/until.ts';

// Recorded from smg 1.13.0 before two workers.
const recorded = (name: string): string => captureText(`smg/${name}.txt`);

const FAST: Partial<EngineParameters> = {
  stepBaseMilliseconds: 2,
  decodeMillisecondsPerSequence: 0.01,
  prefillMillisecondsPerToken: 0.01,
};

let simulator: RunningSimulator;

async function start(faults: FaultPlan = NO_FAULTS, workers = 2): Promise<void> {
  simulator = await startSimulator({ system: 'sglang', model: 'm', workers, engine: FAST, faults });
}

beforeEach(() => start());
afterEach(() => simulator.close());

async function restart(faults: FaultPlan): Promise<void> {
  await simulator.close();
  await start(faults);
}

function chat(body: object | string, signal?: AbortSignal): Promise<Response> {
  const messages = [{ role: 'user', content: 'Say something, please' }];
  const json = typeof body === 'string' ? body : JSON.stringify({ model: 'm', messages, ...body });
  return fetch(`${simulator.url}/v1/chat/completions`, { method: 'POST', body: json, ...(signal && { signal }) });
}

const textOf = async (answer: Promise<Response>): Promise<string> => (await answer).text();
const pageText = async (url = simulator.metricsUrl): Promise<string> => textOf(fetch(url));

function pageWhen(condition: (page: SimulatedPage) => boolean): Promise<SimulatedPage> {
  return until(async () => {
    const read = readPage(await pageText());
    return condition(read) ? read : null;
  });
}

const settled = (page: SimulatedPage): boolean => page.sum('smg_admission_inflight') === 0;

/** The sum over the workers' own pages. */
async function ofEngines(name: string, labels = {}): Promise<number> {
  const pages = await Promise.all(simulator.metricsUrls.slice(1).map((url) => pageText(url)));
  return pages.reduce((sum, page) => sum + readPage(page).sum(name, labels), 0);
}

test.each([
  ['/v1/completions', { prompt: 'three little words', max_tokens: 4 }, 'completions', 4],
  ['/v1/embeddings', { input: 'three little words' }, 'embeddings', 0],
])('%s is forwarded to a worker, and counted', async (path, body, endpoint, generated) => {
  const response = await fetch(`${simulator.url}${path}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', ...body }),
  });
  expect(await response.json()).toMatchObject({ usage: { prompt_tokens: 3, completion_tokens: generated } });
  const page = await pageWhen(settled);
  expect(page.sum('smg_router_requests_total', { endpoint })).toBe(1);
  expect(await ofEngines('sglang:prompt_tokens_total')).toBe(3);
});

describe('the page is that of smg, but for the numbers', () => {
  test('families in order, type, HELP, label names, bucket bounds as text', async () => {
    await Promise.all([textOf(chat({ max_tokens: 2 })), textOf(chat({ max_tokens: 2, stream: true }))]);
    await textOf(fetch(`${simulator.url}/v1/models`));
    // The canary of the event loop and the health checks come by themselves.
    const page = await pageWhen((read) => settled(read) && read.sum('smg_tokio_worker_parks_total') > 0);
    expect(page.sum('smg_worker_health')).toBe(2);
    expect(pageShape(await pageText())).toEqual(pageShape(recorded('loaded')));
  });

  test('what is there before the first request is on the recorded idle page, or comes with time', async () => {
    const idle = pageShape(recorded('idle')).map(({ name }) => name);
    const ours = pageShape(await pageText()).map(({ name }) => name);
    const early = ours.filter((name) => !idle.includes(name));
    // The recorded gateway samples these every few seconds, the simulated one when it is queried.
    expect(early.every((name) => /tokio|admission|inflight|requests_active|log_dropped/.test(name))).toBe(true);
  });

  test('every required family is there, one with an error only', async () => {
    await restart({ ...NO_FAULTS, restart: { afterSeconds: 0, seconds: 600, everySeconds: null, worker: 0 } });
    let page = '';
    // Requests go to both workers until one of them is gone.
    for (let i = 0; !page.includes('send_retries'); i++) {
      await textOf(chat({ max_tokens: 1, messages: [{ role: 'user', content: `${i} `.repeat(40) }] }));
      page = await pageText();
    }
    const required = loadCatalog('smg').families.filter((family) => family.required);
    expect(required.length).toBeGreaterThan(5);
    expect(required.filter(({ name, type }) => !page.includes(`# TYPE ${name} ${type}\n`))).toEqual([]);
  });

  test('content type, and a page of its own for each worker', async () => {
    const response = await fetch(simulator.metricsUrl);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(simulator.metricsUrls).toHaveLength(3);
    expect(await pageText(simulator.metricsUrls[1])).toContain('sglang:max_total_num_tokens');
  });
});

describe('counts', () => {
  test('of good, refused and abandoned requests agree with the workers', async () => {
    const good = [
      ...Array.from({ length: 9 }, (_, i) => chat({ stream: i % 3 > 0, max_tokens: 5 + i })),
      fetch(`${simulator.url}/generate`, {
        method: 'POST',
        body: JSON.stringify({ text: 'hello there', sampling_params: { max_new_tokens: 4 } }),
      }),
    ];
    await Promise.all(good.map(textOf));
    expect((await chat({ max_tokens: 0 })).status).toBe(400);
    expect((await chat('{')).status).toBe(400);
    expect((await chat({ model: 'other' })).status).toBe(404);
    // By the worker, not by the gateway.
    expect((await chat({ max_tokens: 9000 })).status).toBe(400);
    const controller = new AbortController();
    const abandoned = await chat({ stream: true, max_tokens: 8000 }, controller.signal);
    await abandoned.body?.getReader().read();
    controller.abort();
    const page = await pageWhen(settled);

    const path = '/v1/chat/completions';
    expect(page.sum('smg_http_requests_total')).toBe(15);
    expect(page.sum('smg_http_responses_total', { path, status_code: '200' })).toBe(9);
    expect(page.sum('smg_http_responses_total', { path: '/generate', status_code: '200' })).toBe(1);
    expect(page.sum('smg_http_responses_total', { error_code: 'client_closed_request', status_code: '499' })).toBe(1);
    expect(page.sum('smg_http_responses_total', { error_code: 'integer_below_min_value' })).toBe(1);
    expect(page.sum('smg_http_responses_total', { error_code: 'invalid_json' })).toBe(1);
    expect(page.sum('smg_http_responses_total', { error_code: 'model_not_found' })).toBe(1);
    expect(page.sum('smg_http_responses_total')).toBe(15);
    // Refused by the gateway: not routed.
    expect(page.sum('smg_router_requests_total')).toBe(13);
    expect(page.sum('smg_router_request_duration_seconds_count')).toBe(11);
    expect(page.sum('smg_worker_selection_total')).toBe(12);
    expect(page.sum('smg_worker_requests_total')).toBe(12);
    expect(page.sum('smg_worker_cb_outcomes_total', { outcome: 'success' })).toBe(12);
    expect(page.sum('smg_cache_aware_policy_branch_total')).toBe(12);
    expect(page.sum('smg_worker_requests_active')).toBe(0);
    expect(await ofEngines('sglang:num_requests_total')).toBe(10);
    expect(await ofEngines('sglang:num_aborted_requests_total')).toBe(1);
  });

  test('a prompt goes to the worker that served its prefix', async () => {
    const messages = [{ role: 'user', content: 'the same long beginning '.repeat(20) }];
    for (let i = 0; i < 6; i++) await textOf(chat({ messages, max_tokens: 1 }));
    const page = await pageWhen(settled);
    expect(page.sum('smg_cache_aware_policy_branch_total', { branch: 'tree_match' })).toBe(5);
    expect(page.histogram('smg_cache_aware_match_ratio').sum).toBe(5);
    expect(await ofEngines('sglang:cached_tokens_total')).toBeGreaterThan(0);
  });
});

describe('faults', () => {
  test('a stream that breaks at the worker ends with an error event and [DONE], as in smg, and counts as 200', async () => {
    await restart({ ...NO_FAULTS, reset: { rate: 1, afterTokens: 3 } });
    const text = await textOf(chat({ stream: true, max_tokens: 20 }));
    expect(text.match(/"content":" /g)).toHaveLength(3);
    expect(text).toMatch(
      /data: \{"error":\{"message":"Stream error: .*"type":"stream_error"\}\}\n\ndata: \[DONE\]\n\n$/,
    );
    const page = await pageWhen(settled);
    expect(page.sum('smg_http_responses_total', { status_code: '200', error_code: '' })).toBe(1);
    expect(page.sum('smg_router_request_errors_total', { error_type: 'backend_error' })).toBe(1);
    expect(page.sum('smg_worker_cb_outcomes_total', { outcome: 'failure' })).toBe(1);
    expect(page.sum('smg_worker_cb_outcomes_total', { outcome: 'success' })).toBe(1);
  });

  test('a hot worker gets its share', async () => {
    await restart({ ...NO_FAULTS, hotWorker: { worker: 1, share: 1 } });
    await Promise.all(Array.from({ length: 8 }, () => textOf(chat({ max_tokens: 1 }))));
    const page = await pageWhen(settled);
    const { port } = new URL(simulator.metricsUrls[2] ?? '');
    expect(page.sum('smg_worker_requests_total', { worker: `http://127.0.0.1:${port}` })).toBe(8);
    expect(page.sum('smg_worker_requests_total')).toBe(8);
  });

  test('while a worker is down the other one answers; the connection is tried twice, then the other worker', async () => {
    await restart({ ...NO_FAULTS, restart: { afterSeconds: 0, seconds: 600, everySeconds: null, worker: 0 } });
    let page = readPage(await pageText());
    for (let i = 0; page.sum('smg_worker_retries_total') === 0; i++) {
      const messages = [{ role: 'user', content: `${i} `.repeat(40) }];
      expect((await chat({ max_tokens: 1, messages })).status).toBe(200);
      page = readPage(await pageText());
    }
    expect(page.sum('smg_router_upstream_send_retries_total')).toBe(page.sum('smg_worker_retries_total'));
    const lost = { status_code: '500', error_code: 'call_upstream_connection_failed' };
    expect(page.sum('smg_router_upstream_responses_total', lost)).toBe(page.sum('smg_worker_retries_total'));
    expect(page.sum('smg_worker_cb_outcomes_total', { outcome: 'failure' })).toBe(page.sum('smg_worker_retries_total'));
    expect(page.sum('smg_http_responses_total', { status_code: '200' })).toBe(page.sum('smg_http_requests_total'));
  });

  test('a fault for a worker that does not exist', async () => {
    const restartOf = (worker: number) => ({ afterSeconds: 0, seconds: 1, everySeconds: null, worker });
    const started = startSimulator({ system: 'sglang', workers: 2, faults: { ...NO_FAULTS, restart: restartOf(2) } });
    await expect(started).rejects.toThrow('restart: there is no worker 2, the last one is 1');
  });
});

test('/truth holds the requests of all workers', async () => {
  const sent = Array.from({ length: 6 }, (_, i) =>
    chat({ max_tokens: 2, messages: [{ role: 'user', content: `${i} `.repeat(30) }] }),
  );
  const ids = (await Promise.all(sent)).map((response) => response.headers.get('x-request-id'));
  const truth = (await (await fetch(simulator.truthUrl)).json()) as { requests: { id: string }[] };
  expect(truth.requests.map(({ id }) => id).sort()).toEqual([...ids].sort());
});

describe('/engine_metrics', () => {
  test("the pages of the workers as one, with underscores for colons and the worker's address", async () => {
    await Promise.all(Array.from({ length: 8 }, () => textOf(chat({ max_tokens: 2 }))));
    await pageWhen(settled);
    const text = await pageText(`${simulator.url}/engine_metrics`);
    const merged = readPage(text);
    const urls = simulator.metricsUrls.slice(1).map((url) => new URL(url).origin);
    for (const [i, worker] of urls.entries()) {
      const own = readPage(await pageText(simulator.metricsUrls[i + 1]));
      const name = 'num_requests_total';
      expect(merged.sum(`sglang_${name}`, { worker_addr: worker })).toBe(own.sum(`sglang:${name}`));
    }
    expect(merged.sum('sglang_num_requests_total')).toBe(8);
    expect(text).toMatch(/^# TYPE sglang_num_requests_total counter\nsglang_num_requests_total\{.*worker_addr="http:/m);
    expect(text).toMatch(/_bucket\{.*,le="inf"\} \d+\n/);
    expect(text).not.toMatch(/^(# (HELP|TYPE) )?\w*:/m);
    expect(text.endsWith('\n\n')).toBe(true);
  });
});
