import { render, screen, within } from '@testing-library/react';
import React from 'react';
import type { GpuEnergy, ResultFile, ScalarResult, ServersResult } from '../../../../core/run/result.ts';
import { EnergyAndCost } from './EnergyAndCost.tsx';

const GPU = { model: 'NVIDIA H100', source: 'energy_counter', readings: 20, resolution_seconds: 1 } as const;
const ENERGY: GpuEnergy = {
  joules: 12_000,
  watts: 600,
  idle_watts: 150,
  gpus: 2,
  source: 'energy_counter',
  resolution_seconds: 1,
  by_gpu: [
    { ...GPU, gpu: 'GPU-0', joules: 5000, watts: 250, idle_watts: 70 },
    { ...GPU, gpu: 'GPU-1', joules: 7000, watts: 350, idle_watts: 80 },
  ],
};

function scalar(change: Pick<ScalarResult, 'measure' | 'unit' | 'value' | 'origin' | 'definition'>): ScalarResult {
  return { population: 'ok', clock: 'sent', kind: 'scalar', ...change };
}

const PER_TOKEN = { unit: 'joules_per_token', origin: 'server', definition: 'energy' } as const;
const ENERGY_MEASURES = [
  scalar({ ...PER_TOKEN, measure: 'energy_per_output_token', value: 1.5 }),
  scalar({ ...PER_TOKEN, measure: 'energy_per_total_token', value: 0.5 }),
];
const COST = { unit: 'cost_per_million_tokens', origin: 'client', definition: 'price_of_gpu_time_in_eur' } as const;
const cost = (output: number | null, total: number | null) => [
  scalar({ ...COST, measure: 'cost_per_million_output_tokens', value: output }),
  scalar({ ...COST, measure: 'cost_per_million_total_tokens', value: total }),
];

function show(energy: GpuEnergy | null, measures: readonly ScalarResult[], coolDown?: ResultFile['cool_down']) {
  const servers = { targets: [], gpu_energy: energy } as unknown as ServersResult;
  const result = { servers, measures, cool_down: coolDown } as unknown as ResultFile;
  return render(<EnergyAndCost result={result} />);
}

const tile = (name: string) => screen.getByRole('group', { name });

test('energy per token, power, idle power apart, and the cost with its currency', () => {
  show(ENERGY, [...ENERGY_MEASURES, ...cost(3.47, 0.7)]);
  expect(tile('Energy per output token')).toHaveTextContent('1.50 J/token');
  expect(tile('Energy per output token')).toHaveTextContent('0.500 J/token in total');
  expect(tile('Mean power')).toHaveTextContent('600 W');
  expect(tile('Mean power')).toHaveTextContent('2 GPUs · from energy counters');
  expect(tile('Idle power before the run')).toHaveTextContent('150 W');
  expect(tile('Energy')).toHaveTextContent('12,000 J');
  expect(tile('Cost per million output tokens')).toHaveTextContent('3.47 EUR');
  expect(tile('Cost per million output tokens')).toHaveTextContent('0.700 EUR per million tokens in total');
});

test('each GPU on a row of its own', () => {
  show(ENERGY, ENERGY_MEASURES);
  const table = within(tile('Energy of each GPU'));
  expect(table.getAllByRole('row').map((row) => row.textContent)).toEqual([
    'GPUModelEnergyMean powerIdle power before the run',
    'GPU-0NVIDIA H1005,000 J250 W70 W',
    'GPU-1NVIDIA H1007,000 J350 W80 W',
  ]);
});

test('what is missing is a dash with the option that provides it, never 0', () => {
  show(ENERGY, ENERGY_MEASURES);
  expect(tile('Cost per million output tokens')).toHaveTextContent('–requires --gpu-hour-price');
});

test('the energy of a cool-down is not silently that of the measured requests', () => {
  show(ENERGY, ENERGY_MEASURES, { ok: 6, error: 1, timeout: 0, cancelled: 0 });
  expect(screen.getByText(/includes that of 7 requests of the cool-down/)).toBeInTheDocument();
});

test('a price without a page of the GPUs', () => {
  show(null, cost(3.47, 0.7));
  expect(tile('Energy per output token')).toHaveTextContent(
    '–requires the metrics page of the GPUs (--server-metrics)'
  );
  expect(tile('Mean power')).toHaveTextContent('–');
  expect(tile('Cost per million output tokens')).toHaveTextContent('3.47 EUR');
});

test('a price without the number of GPUs', () => {
  show(null, cost(null, null));
  expect(tile('Cost per million output tokens')).toHaveTextContent('–the number of GPUs (--gpu-count)');
});

test('nothing for a run without both', () => {
  const { container } = show(null, []);
  expect(container).toBeEmptyDOMElement();
});
