import { expect, test } from '@jest/globals';
import { gpuEnergy } from './gpu-energy.ts';
import { collectionOfStores } from '../testing/aiperf-collection.ts';
import { pagesOf, replay } from '../testing/replay.ts';

const energy = (...millijoules: number[]): string =>
  [
    '# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter',
    ...millijoules.map((value, gpu) => `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="${gpu}",UUID="GPU-${gpu}"} ${value}`),
  ].join('\n');
const power = (watts: number): string =>
  `# TYPE DCGM_FI_DEV_POWER_USAGE gauge\nDCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-0"} ${watts}`;
const tokens = (count: number): string =>
  `# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total ${count}`;

function energyOf(...targets: string[][]) {
  const stores = targets.map((pages, i) => [`http://h:${i}/metrics`, replay(pagesOf(...pages))] as const);
  return gpuEnergy(
    collectionOfStores(new Map(stores), {
      zeroWall_ns: 0n,
      window: { start_ns: 0, end_ns: 2e9 },
      definitions: 'llmbench',
      slice_ns: null,
    }),
  );
}

test('the energy counters of all GPUs, per generated token', () => {
  const gpus = [energy(1_000_000, 5000), energy(1_300_000, 6000), energy(1_600_000, 205_000)];
  expect(energyOf([tokens(0), tokens(50), tokens(400)], gpus)).toEqual({
    joules: 800,
    gpus: 2,
    source: 'energy_counter',
    joules_per_output_token: 2,
  });
});

test('a GPU exposed by two exporters counts once', () => {
  const gpus = [energy(0), energy(1000), energy(7000)];
  expect(energyOf(gpus, gpus)).toMatchObject({ joules: 7, gpus: 1, joules_per_output_token: null });
});

test('without a counter, power over time', () => {
  expect(energyOf([power(100), power(300), power(300)])).toMatchObject({ joules: 400, source: 'power' });
});

test('no GPU, no energy', () => {
  expect(energyOf([tokens(0), tokens(5), tokens(9)])).toBeNull();
});
