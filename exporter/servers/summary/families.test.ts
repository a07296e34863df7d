import { describe, expect, test } from '@jest/globals';
import { aiperfExport } from '../testing/aiperf-recording.ts';
import { inferredUnit } from './families.ts';

describe('the unit of a family that no catalog describes', () => {
  test.each([
    ['x_seconds', null, 'seconds'],
    ['x_ms', null, 'milliseconds'],
    ['x_bytes_total', null, 'bytes'],
    ['x_tokens', null, 'tokens'],
    ['x_tokens_total', null, 'tokens'],
    ['x_count', null, 'count'],
    ['vllm:request_success', null, 'requests'],
    ['vllm:num_requests_running', null, 'requests'],
    ['vllm:kv_cache_usage_perc', null, 'percent'],
    ['vllm:kv_cache_usage_perc', 'KV-cache usage. 1 means 100 percent usage.', 'ratio'],
    ['busy', 'Busy ratio (0-1) of a worker', 'ratio'],
    ['busy', 'Utilization (0-100)', 'percent'],
    ['DCGM_FI_DEV_POWER_USAGE', 'Power draw (in W).', 'watts'],
    ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', 'Total energy consumption since boot (in mJ).', 'millijoules'],
    ['DCGM_FI_DEV_FB_USED', 'Framebuffer memory used (in MiB).', 'mebibytes'],
    ['speed', 'Transfer speed in GB/s', 'gb/s'],
    ['demo', 'Number of things', null],
  ])('%s (%s): %s', (name, help, unit) => {
    expect(inferredUnit(name, help)).toBe(unit);
  });
});

test('the same as AIPerf gives for a whole Dynamo', () => {
  const different = Object.entries(aiperfExport('a-steady-c8').metrics).flatMap(([name, { description, unit }]) => {
    const ours = inferredUnit(name, description);
    return ours === (unit ?? null) ? [] : [`${name}: ${ours} is not ${unit}`];
  });
  // Microseconds, as Triton counts them, have no suffix of their own there.
  expect(different).toEqual(['dynamo_frontend_detokenize_total_us: microseconds is not undefined']);
});
