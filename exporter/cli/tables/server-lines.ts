import type { ResultFile, ServersResult, ServerTarget } from '../../../core/run/result.ts';
import { ABSENT, quantity, significant } from '../../../core/text/quantities.ts';
import { things } from '../../../core/text/things.ts';

type Energy = NonNullable<ServersResult['gpu_energy']>;

/** The server lines of a run's result. */
export function serverLines({ servers }: Pick<ResultFile, 'servers'>): string[] {
  if (!isCollected(servers)) return [];
  const { requests, targets, why, exact, collector, gpu_energy: energy } = servers;
  const count =
    requests === null
      ? ''
      : ` · servers count ${requests.server === null ? ABSENT : things(requests.server, 'requests')}, the client ${significant(requests.client)}`;
  const verdict =
    why ?? (exact === true ? 'exact' : 'unknown whether exact: no counter reports the number of requests');
  const cost =
    collector.cpu_share === null
      ? ''
      : ` · collecting used at least ${quantity(collector.cpu_share, 'ratio')} of the client's CPU`;
  return [
    `servers     ${verdict}${count}${cost}`,
    ...targets.map((target) => `            ${targetLine(target)}`),
    ...(energy === null ? [] : [energyLine(energy)]),
  ];
}

function energyLine({ joules, gpus, joules_per_output_token: perToken }: Energy): string {
  const each = perToken === null ? '' : ` · ${significant(perToken)} J per output token`;
  return `energy      ${significant(joules)} J by ${things(gpus, 'GPUs')}${each}`;
}

function isCollected(servers: ResultFile['servers']): servers is ServersResult {
  return 'targets' in servers;
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
    `${target.target}  ${system ?? 'unknown system'}  ${STATES[state]}  ` +
    `${things(scrapes, 'scrapes')}, ${failed} failed${durations}`
  );
}
