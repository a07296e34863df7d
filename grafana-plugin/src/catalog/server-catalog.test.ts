import { serversAtEdge } from '../pages/Buckets/list-servers.ts';
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

/** Which names a query for servers finds. */
function findsName(expr: string): (name: string) => boolean {
  const [, pattern = 'nothing', excluded = 'nothing'] = /__name__=~"(.*?)"(?:,__name__!~"(.*?)")?/.exec(expr) ?? [];
  return (name) => new RegExp(`^(?:${pattern})$`).test(name) && !new RegExp(`^(?:${excluded})$`).test(name);
}

test('the queries for servers find classic and native histograms of every system, and no others', () => {
  const [classic = () => false, native = () => false] = serversAtEdge(SYSTEMS).map(({ expr }) => findsName(expr));
  for (const { families, presence } of SYSTEMS) {
    expect(families.some(({ name }) => classic(`${name}_bucket`))).toBe(true);
    expect(families.some(({ name }) => native(name))).toBe(true);
    expect(presence.length).toBeGreaterThan(0);
  }
  expect(classic('sglang_time_to_first_token_seconds_bucket')).toBe(true);
  expect(native('sglang_time_to_first_token_seconds')).toBe(true);
  for (const name of ['http_request_duration_seconds', 'llmbench_time_to_first_token_seconds']) {
    expect(classic(`${name}_bucket`)).toBe(false);
    expect(native(name)).toBe(false);
  }
  expect(native('sglang:time_to_first_token_seconds_count')).toBe(false);
});
