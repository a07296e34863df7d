import { coolDownCount } from '../../../core/run/record.ts';
import {
  scalarOf,
  type ResultFile,
  type ServerRequests,
  type ServerTarget,
  type EnergyOfGpu,
  type GpuEnergy,
  type MeasureResult,
} from '../../../core/run/result.ts';
import { ABSENT, quantity, significant, things } from '../../../core/text/quantities.ts';
import { TO_FILE, verdictLines, type Print } from './layout.ts';

/** Whether the servers' metrics are of this run alone, with the counts behind it; none when nothing was collected. */
export function serverVerdict(servers: ResultFile['servers'], print: Print = TO_FILE): string[] {
  if (servers === null) return [];
  const { requests, why, exact } = servers;
  const count = requests === null ? '' : ` · ${countText(requests)}`;
  const text = why ?? (exact === true ? 'exact' : 'unknown whether exact: no counter reports the number of requests');
  const verdict = /^(not exact|exact|unknown)\b/.exec(text)?.[0] ?? '';
  return verdictLines('servers', verdict, `${text.slice(verdict.length)}${count}`, print);
}

function countText({ server, client, cool_down, warmup }: ServerRequests): string {
  const included = Object.entries({ 'cool-down': cool_down, 'warm-up': warmup })
    .map(([phase, count]) =>
      count === undefined ? '' : `, ${significant(count)} of them of the ${phase}, which the servers' measures include`,
    )
    .join('');
  return `servers count ${server === null ? ABSENT : things(server, 'requests')}, the client ${significant(client)}${included}`;
}

/** What it took to collect the servers' metrics, and the energy of the GPUs. */
export function serverFacts({
  servers,
  measures,
  cool_down: coolDown,
}: Pick<ResultFile, 'servers' | 'measures' | 'cool_down'>): [string, string][] {
  if (servers === null) return [];
  const { targets, collector, gpu_energy: energy } = servers;
  return [
    ...(energy === null ? [] : energyFacts(energy, measures, coolDownCount(coolDown))),
    ...targets.map((target, i): [string, string] => [i === 0 ? 'targets' : '', targetLine(target)]),
    ...(collector.cpu_share === null
      ? []
      : [
          ['collector', `at least ${quantity(collector.cpu_share, 'ratio')} of the client's CPU`] satisfies [
            string,
            string,
          ],
        ]),
  ];
}

const STATES: Readonly<Record<ServerTarget['state'], string>> = {
  waiting: 'no response',
  up: 'up',
  gone: 'gone',
  not_metrics: 'not metrics',
  several_servers: 'several servers',
};

/** How a target was collected, on a line. */
export function targetLine(target: ServerTarget): string {
  const {
    system,
    state,
    scrapes,
    failed_scrapes: failed,
    scrape_duration_seconds: { p50, p99 },
  } = target;
  const durations = scrapes === 0 ? '' : `, p50 ${quantity(p50, 'seconds')}, p99 ${quantity(p99, 'seconds')}`;
  return (
    `${target.target}  ${system ?? (URL.canParse(target.target) ? 'unknown system' : 'GPUs of this machine')}  ${STATES[state]}  ` +
    `${things(scrapes, 'scrapes')}, ${failed} failed${durations}`
  );
}

/** More GPUs are listed in result.json only. */
const MAX_LISTED = 8;
/** A reading must be this many times shorter than the window for its edges not to matter. */
const ENOUGH_READINGS = 10;

const SOURCES = { energy_counter: 'from energy counters', power: 'from power over time' } as const;

/**
 * The energy of all GPUs, by what was generated with it, and of each. `coolDown`: number of requests that the GPUs served
 * besides the measured ones.
 */
function energyFacts(
  energy: GpuEnergy,
  measures: readonly MeasureResult[],
  coolDown = 0,
): [name: string, text: string][] {
  const [perOutput, perTotal] = ['energy_per_output_token', 'energy_per_total_token'].map(
    (measure) => scalarOf(measures, measure)?.value ?? null,
  );
  const { joules, watts, idle_watts: idle, gpus, source, by_gpu } = energy;
  const parts = [
    joules === null
      ? `unknown: too few readings of ${things(gpus, 'GPUs')} in the window`
      : `${quantity(joules, 'joules')} by ${things(gpus, 'GPUs')}${source === null ? '' : `, ${SOURCES[source]}`}`,
    ...(watts === null ? [] : [`mean power ${quantity(watts, 'watts')}`]),
    ...(idle === null ? [] : [`idle power before the run ${quantity(idle, 'watts')}`]),
    ...(perOutput == null ? [] : [`${significant(perOutput)} J per output token`]),
    ...(perTotal == null ? [] : [`${significant(perTotal)} J per token in total`]),
    ...(coolDown === 0
      ? []
      : [`also for ${things(coolDown, 'requests')} of the cool-down, whose tokens are not counted`]),
    ...coarse(energy),
  ];
  const each = by_gpu.length < 2 || by_gpu.length > MAX_LISTED ? [] : by_gpu.map(gpuText);
  return [parts.join(' · '), ...each].map((text, i) => [i === 0 ? 'energy' : '', text]);
}

function coarse({ joules, watts, resolution_seconds: resolution }: GpuEnergy): string[] {
  if (joules === null || watts === null || resolution === null) return [];
  const seconds = joules / watts;
  if (!(resolution * ENOUGH_READINGS > seconds)) return [];
  return [`an estimate: readings up to ${quantity(resolution, 'seconds')} apart`];
}

function gpuText({ gpu, model, joules, watts, idle_watts }: EnergyOfGpu): string {
  const idle = idle_watts === null ? '' : `, idle ${quantity(idle_watts, 'watts')}`;
  return `${gpu}${model === null ? '' : `  ${model}`}  ${quantity(joules, 'joules')}, ${quantity(watts, 'watts')}${idle}`;
}
