import type { ResultFile, ServersResult } from '../../core/run/result.ts';
import { ABSENT, quantity, significant } from '../../core/measures/quantities.ts';

/** The servers' side of a run in a few lines of the result. */
export function serverLines({ servers }: Pick<ResultFile, 'servers'>): string[] {
  if (!isCollected(servers)) return [];
  const { requests, targets, why, exact, collector, gpu_energy: energy } = servers;
  const count =
    requests === null
      ? ''
      : ` · they count ${requests.server === null ? ABSENT : significant(requests.server)} requests, the client ${significant(requests.client)}`;
  const verdict = why ?? (exact === true ? 'exact' : 'nothing says whether they are exact');
  const cost =
    collector.cpu_share === null
      ? ''
      : ` · collecting took ${quantity(collector.cpu_share, 'ratio')} of the client's CPU`;
  const perToken = energy?.joules_per_output_token;
  return [
    `servers     ${verdict}${count}${cost}`,
    ...(energy === null
      ? []
      : [
          `energy      ${significant(energy.joules)} J by ${energy.gpus} GPUs` +
            (perToken == null ? '' : ` · ${significant(perToken)} J per output token`),
        ]),
    ...targets.map(
      ({ target, system, state, scrapes, failed_scrapes: failed, scrape_duration_seconds: { p50, p99 } }) => {
        const durations = scrapes === 0 ? '' : `, p50 ${quantity(p50, 'seconds')}, p99 ${quantity(p99, 'seconds')}`;
        return `            ${target}  ${system ?? 'unknown system'}  ${state}  ${scrapes} scrapes, ${failed} failed${durations}`;
      },
    ),
  ];
}

function isCollected(servers: ResultFile['servers']): servers is ServersResult {
  return 'targets' in servers;
}
