import { coolDownCount } from '../../../core/run/request-counts.ts';
import type { ResultFile, ServerRequests, ServersResult, ServerTarget } from '../../../core/run/result.ts';
import { ABSENT, quantity, significant } from '../../../core/text/quantities.ts';
import { things } from '../../../core/text/things.ts';
import { energyFacts } from './energy-lines.ts';
import { TO_FILE, verdictLines, type Print } from './facts.ts';

/** Whether the servers' metrics are of this run alone, with the counts behind it; none when nothing was collected. */
export function serverVerdict(servers: ResultFile['servers'], print: Print = TO_FILE): string[] {
  if (!isCollected(servers)) return [];
  const { requests, why, exact } = servers;
  const count = requests === null ? '' : ` · ${countText(requests)}`;
  const text = why ?? (exact === true ? 'exact' : 'unknown whether exact: no counter reports the number of requests');
  const verdict = /^(not exact|exact|unknown)\b/.exec(text)?.[0] ?? '';
  return verdictLines('servers', verdict, `${text.slice(verdict.length)}${count}`, print);
}

function countText({ server, client, cool_down: coolDown }: ServerRequests): string {
  const included =
    coolDown === undefined
      ? ''
      : `, ${significant(coolDown)} of them of the cool-down, which the servers' measures include`;
  return `servers count ${server === null ? ABSENT : things(server, 'requests')}, the client ${significant(client)}${included}`;
}

/** What it took to collect the servers' metrics, and the energy of the GPUs. */
export function serverFacts({
  servers,
  measures,
  cool_down: coolDown,
}: Pick<ResultFile, 'servers' | 'measures' | 'cool_down'>): [string, string][] {
  if (!isCollected(servers)) return [];
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
    `${target.target}  ${system ?? (URL.canParse(target.target) ? 'unknown system' : 'GPUs of this machine')}  ${STATES[state]}  ` +
    `${things(scrapes, 'scrapes')}, ${failed} failed${durations}`
  );
}
