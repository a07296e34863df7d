import { expect, test } from '@jest/globals';

import { loadCatalog } from '../../catalog/load.ts';
import { Engine } from '../engine/engine.ts';
import { DEFAULT_ENGINE_PARAMETERS } from '../engine/parameters.ts';
import { pageShape } from '../metrics/testing/page-shape.ts';
import { readPage } from '../metrics/testing/read-page.ts';
import { DcgmMetrics, GpuLoad } from './dcgm-metrics.ts';

const S = 1e9;
const { state } = new Engine(DEFAULT_ENGINE_PARAMETERS);
const step = (start_ns: number, time_ns: number) =>
  ({ kind: 'step', start_ns, time_ns, prefillTokens: 0, sequences: 1, decoding: 1, state, drafts: null }) as const;

test('power, energy and utilization follow the share of time in which steps run', () => {
  const gpu = new GpuLoad(DEFAULT_ENGINE_PARAMETERS);
  expect(gpu.read(2 * S)).toMatchObject({ busyRatio: 0, power_W: 75, energy_J: 150 });
  gpu.observe([step(2 * S, 3 * S), step(3.5 * S, 5 * S)]);
  // 2.5 s of 4 s busy at 620 W, the rest at 75 W: 1662.5 J.
  expect(gpu.read(6 * S)).toMatchObject({ busyRatio: 0.625, power_W: 415.625, energy_J: 150 + 1662.5 });
  // Too soon after the last look: the same again.
  expect(gpu.read(6.1 * S).energy_J).toBe(1812.5);
  expect(gpu.read(8 * S)).toMatchObject({ busyRatio: 0, energy_J: 1812.5 + 150 });
});

test('a step that lasts longer than the time between two looks makes the GPU no busier than it can be', () => {
  const gpu = new GpuLoad(DEFAULT_ENGINE_PARAMETERS);
  gpu.read(9 * S);
  gpu.observe([step(0, 10 * S)]);
  expect(gpu.read(10 * S).busyRatio).toBe(1);
  // What was not seen yet counts when the time has passed for it.
  expect(gpu.read(11 * S).busyRatio).toBe(1);
});

test('the page: one series per GPU and family, types and labels of the catalog, memory that adds up', () => {
  const engine = new Engine(DEFAULT_ENGINE_PARAMETERS);
  engine.submit({ id: 'a', arrival_ns: 0, promptTokens: 100, outputTokens: 200 });
  const gpus = [new GpuLoad(DEFAULT_ENGINE_PARAMETERS), new GpuLoad(DEFAULT_ENGINE_PARAMETERS)];
  gpus[0]?.observe(engine.advanceTo(2 * S));
  const text = new DcgmMetrics(gpus).page(2 * S);
  const { families, common_labels } = loadCatalog('dcgm');
  for (const { name, type, samples } of pageShape(text)) {
    const facts = families.find((family) => family.name === name);
    expect([name, facts?.type]).toEqual([name, type]);
    expect(samples).toEqual([`${name} ${[...common_labels, ...(facts?.labels ?? [])].sort().join(' ')}`]);
  }
  const { value } = readPage(text);
  expect(value('DCGM_FI_DEV_GPU_UTIL', { gpu: '0' })).toBe(100);
  expect(value('DCGM_FI_DEV_GPU_UTIL', { gpu: '1' })).toBe(0);
  const memory = ['FREE', 'USED', 'RESERVED'].map((part) => value(`DCGM_FI_DEV_FB_${part}`, { gpu: '0' }));
  expect(memory.reduce((sum, part) => sum + part, 0)).toBe(80 * 1024);
  expect(text).toMatch(/^DCGM_FI_DEV_POWER_USAGE\{gpu="0",UUID="GPU-[^"]+",pci_bus_id=.* 6\d\d\.\d{6}$/m);
  // 2 s at 75 W, in millijoules.
  expect(value('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', { gpu: '1' })).toBe(150_000);
});
