import { joinedTable, type Column } from '../panels/joined-table.ts';
import * as client from '../queries/client.ts';
import { COUNT, valueUnit } from '../server/units.ts';

const NOTHING_KNOWN =
  'No chosen run has energy or cost. Energy requires a metrics page of the GPUs, such as ' +
  '`llmbench run --server-metrics http://HOST:9400/metrics`; cost requires `--gpu-hour-price 2.5EUR`. ' +
  'The results come from `llmbench serve` (port 9469) when the run has ended.';

/** Each measure with the unit of its family and its title. */
const COLUMNS = [
  ['joules_per_token', 'energy_per_output_token', 'Per output token', valueUnit('joules').unit],
  ['joules_per_token', 'energy_per_total_token', 'Per token in total', valueUnit('joules').unit],
  ['joules', 'total_gpu_energy', 'Energy', valueUnit('joules').unit],
  ['watts', 'total_gpu_power', 'Mean power', valueUnit('watts').unit],
  ['watts', 'idle_gpu_power', 'Idle power before', valueUnit('watts').unit],
  ['cost_per_million_tokens', 'cost_per_million_output_tokens', 'Cost per 1M output tokens', COUNT],
  ['cost_per_million_tokens', 'cost_per_million_total_tokens', 'Cost per 1M tokens in total', COUNT],
] as const;

/** What the chosen runs took and cost. */
export function energyOfRuns() {
  return joinedTable({
    id: 61,
    width: 24,
    height: 6,
    title: 'Energy and cost of the runs',
    description:
      'Energy of all GPUs in the measure phase, idle power included, and the cost of the GPU time, both over the tokens of ok ' +
      'requests. Idle power: the lowest before the first request. Cost: at the throughput of the run, in the currency of ' +
      '--gpu-hour-price. –: the run lacks the measure.',
    noValue: NOTHING_KNOWN,
    labels: { start: 'Start', scenario: 'Scenario', run_id: 'Run' },
    rowsOf: 'runs',
    columns: COLUMNS.map(([unit, measure, title, shown]): Column => ({
      title,
      expr: client.resultOfRuns(unit, measure),
      properties: [{ id: 'unit', value: shown }],
    })),
  });
}
