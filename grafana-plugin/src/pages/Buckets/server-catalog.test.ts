import { serversAtEdge } from './bucket-queries.ts';
import { knownHistogram, SYSTEMS, systemsOfServer } from './server-catalog.ts';

const ids = (names: string[]) => systemsOfServer(names).map(({ system }) => system);

test('recognizes a server by its names, gateways first', () => {
  expect(ids(['vllm:num_requests_running', 'dynamo_frontend_requests_total'])).toEqual(['dynamo', 'vllm']);
  expect(ids(['sglang_num_running_reqs'])).toEqual(['sglang']);
  // Triton's vLLM backend has names of vLLM beside those of Triton.
  expect(ids(['vllm:time_to_first_token_seconds_bucket', 'nv_inference_request_success'])).toEqual([
    'triton',
    'triton-vllm-backend',
  ]);
  expect(ids(['go_goroutines'])).toEqual([]);
});

test('finds a family in any spelling, with the option of its system', () => {
  const systems = systemsOfServer(['sglang:num_running_reqs']);
  const known = knownHistogram(systems, 'sglang_time_to_first_token_seconds');
  expect(known?.family).toMatchObject({ name: 'sglang:time_to_first_token_seconds', unit: 'seconds' });
  expect(known?.system.bucket_options?.map(({ name }) => name)).toContain('--bucket-time-to-first-token');
  expect(knownHistogram(systems, 'mine_seconds')).toBeNull();
});

test('the query for servers finds histograms of every system, and no others', () => {
  const { expr } = serversAtEdge(SYSTEMS);
  const pattern = new RegExp(`^(?:${/__name__=~"(.*)",le/.exec(expr)?.[1] ?? 'nothing'})$`);
  for (const { families, presence } of SYSTEMS) {
    expect(families.some(({ name }) => pattern.test(`${name}_bucket`))).toBe(true);
    expect(presence.length).toBeGreaterThan(0);
  }
  expect(pattern.test('sglang_time_to_first_token_seconds_bucket')).toBe(true);
  for (const name of ['http_request_duration_seconds_bucket', 'llmbench_time_to_first_token_seconds_bucket']) {
    expect(pattern.test(name)).toBe(false);
  }
});
