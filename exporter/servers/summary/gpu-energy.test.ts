import { expect, test } from '@jest/globals';
import type { GpuEnergy } from '../../../core/run/result.ts';
import { gpuEnergy } from './gpu-energy.ts';
import { collectionOfStores } from '../testing/aiperf-collection.ts';
import { pagesOf, replay } from '../testing/replay.ts';

const energy = (...millijoules: number[]): string =>
  [
    '# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter',
    ...millijoules.map((value, gpu) => `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="${gpu}",UUID="GPU-${gpu}"} ${value}`),
  ].join('\n');
const power = (watts: number, uuid = 'GPU-0'): string =>
  `# TYPE DCGM_FI_DEV_POWER_USAGE gauge\nDCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="${uuid}",modelName="H100"} ${watts}`;

interface Times {
  readonly window?: readonly [start: number, end: number];
  readonly firstRequest?: number | null;
}

/** Each target's pages are a second apart; times in seconds. */
function energyOf(
  targets: readonly string[][],
  { window = [0, 2], firstRequest = null }: Times = {},
): GpuEnergy | null {
  const stores = targets.map((pages, i) => [`http://h:${i}/metrics`, replay(pagesOf(...pages))] as const);
  const collection = collectionOfStores(new Map(stores), {
    zeroWall_ns: 0n,
    window: { start_ns: window[0] * 1e9, end_ns: window[1] * 1e9 },
    definitions: 'llmbench',
    slice_ns: null,
  });
  return gpuEnergy(collection, firstRequest === null ? null : firstRequest * 1e9);
}

test('the energy counters of all GPUs, summed and of each', () => {
  const gpus = [energy(1_000_000, 5000), energy(1_300_000, 6000), energy(1_600_000, 205_000)];
  expect(energyOf([gpus])).toEqual({
    ...{ joules: 800, watts: 400, idle_watts: null, gpus: 2, source: 'energy_counter', resolution_seconds: 1 },
    by_gpu: [
      {
        ...{ gpu: 'GPU-0', model: null, source: 'energy_counter', joules: 600, watts: 300, idle_watts: null },
        ...{ readings: 3, resolution_seconds: 1 },
      },
      {
        ...{ gpu: 'GPU-1', model: null, source: 'energy_counter', joules: 200, watts: 100, idle_watts: null },
        ...{ readings: 3, resolution_seconds: 1 },
      },
    ],
  });
});

test('a GPU reported by two exporters counts once', () => {
  const gpus = [energy(0), energy(1000), energy(7000)];
  expect(energyOf([gpus, gpus])).toMatchObject({ joules: 7, gpus: 1 });
});

test('without a counter, power over time; the model is named', () => {
  // 100 to 300 W in a second, then 300 W for another.
  const found = energyOf([[power(100), power(300), power(300)]]);
  expect(found).toMatchObject({ joules: 500, watts: 250, source: 'power', by_gpu: [{ model: 'H100', readings: 3 }] });
});

test('a counter goes before the power of the same GPU, of each GPU for itself', () => {
  const both = [0, 1, 2].map((second) => `${energy(second * 1e6)}\n${power(5)}\n`.replace(/\n$/, ''));
  expect(energyOf([both])).toMatchObject({ joules: 2000, source: 'energy_counter' });
  const other = [power(70, 'GPU-9'), power(70, 'GPU-9'), power(70, 'GPU-9')];
  expect(energyOf([both, other])).toMatchObject({ joules: 2140, gpus: 2, source: null });
});

test('an exporter that reads its GPUs every 3 s: its values are older than the page', () => {
  // 100 W; read at -1, 2, 5, 8 and 11 s, where the counter is at 0, 300, 600, 900 and 1200 J.
  const pages = Array.from({ length: 13 }, (_, second) => energy(300_000 * Math.floor((second + 1) / 3)));
  expect(energyOf([pages], { window: [3, 10] })).toMatchObject({ joules: 700, watts: 100, resolution_seconds: 3 });
  expect(energyOf([pages], { window: [0, 10] })).toMatchObject({ joules: 1000, watts: 100 });
});

test('a counter that did not move in the window determines nothing: the GPUs are known, their energy is not', () => {
  const unknown = { joules: null, watts: null, gpus: 1, source: null };
  expect(energyOf([[energy(1000), energy(1000), energy(1000)]])).toMatchObject(unknown);
  expect(energyOf([[energy(1000), energy(1000), energy(9000)]])).toMatchObject(unknown);
});

test('the sum is unknown when one GPU is', () => {
  const gpus = [energy(0, 5000), energy(1000, 5000), energy(2000, 5000)];
  expect(energyOf([gpus])).toMatchObject({ joules: null, gpus: 2, by_gpu: [{ joules: 2 }, { joules: null }] });
});

test('the idle power is the lowest of each GPU before the first request', () => {
  const pages = [power(90), power(80), power(85), power(600), power(600), power(70)];
  const times = { window: [3, 5], firstRequest: 2.5 } as const;
  expect(energyOf([pages], times)).toMatchObject({ idle_watts: 80, by_gpu: [{ idle_watts: 80 }] });
  const two = [0, 1, 2, 3, 4].map((second) => power(100 + second, 'GPU-1'));
  expect(energyOf([pages, two], times)).toMatchObject({ idle_watts: 180 });
  expect(energyOf([pages], { window: [3, 5] })).toMatchObject({ idle_watts: null });
});

test("AMD's exporter: microjoules in a gauge, one value for each partition of a GPU", () => {
  const page = (joules: number): string =>
    ['0', '1']
      .map((id) => `gpu_energy_consumed{gpu_id="${id}",serial_number="S1",card_model="MI300X"} ${joules * 1e6}`)
      .concat('gpu_package_power{gpu_id="0",serial_number="S1",card_model="MI300X"} 9')
      .join('\n');
  const found = energyOf([[page(50), page(250), page(450)]]);
  expect(found).toMatchObject({ joules: 400, gpus: 1, by_gpu: [{ gpu: 'S1', model: 'MI300X' }] });
});

test('a value that DCGM cannot read is none', () => {
  const blank = '# TYPE DCGM_FI_DEV_POWER_USAGE gauge\nDCGM_FI_DEV_POWER_USAGE{gpu="0"} 9223372036854775794';
  expect(energyOf([[blank, blank, blank]])).toMatchObject({ joules: null, gpus: 1 });
});

test('no GPU, no energy', () => {
  expect(energyOf([['# TYPE x counter\nx 1', '# TYPE x counter\nx 2']])).toBeNull();
});
