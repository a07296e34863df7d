import type { PrometheusSeries, PrometheusTarget } from './query-prometheus.ts';
import { SIGNAL_IDS, type SignalId, SYSTEMS, type ServerSystem } from '../catalog/systems.ts';

/** One server that Prometheus scraped in the time range; null: not exposed, or not now. */
export interface ServerRow extends Record<SignalId, number | null> {
  /** The jobs that scrape it: those that do now first. */
  jobs: string[];
  instance: string;
  up: boolean;
}

export interface SystemServers {
  system: ServerSystem;
  servers: ServerRow[];
}

const BY = 'by (job, instance)';

/** Queries for the state of all systems at the end of the time range. */
export function serverQueries(rangeSeconds: number): PrometheusTarget[] {
  const range = `[${Math.max(1, Math.ceil(rangeSeconds))}s]`;
  const queries: Array<[refId: string, expr: string]> = SYSTEMS.flatMap((system) => [
    [`${system.id} presence`, `count ${BY} (last_over_time(${system.presence}${range}))`],
    ...SIGNAL_IDS.flatMap((signal): Array<[string, string]> => {
      const family = system[signal];
      return family === undefined ? [] : [[`${system.id} ${signal}`, signalQuery(signal, family)]];
    }),
  ]);
  return [['up', 'up == 1'] as [string, string], ...queries].map(([refId, expr]) => ({ refId, expr, instant: true }));
}

function signalQuery(signal: SignalId, family: string): string {
  if (signal === 'kvCache') {
    return `max ${BY} (${family})`;
  }
  if (signal === 'running' || signal === 'waiting') {
    return `sum ${BY} (${family})`;
  }
  // Four scrapes at Prometheus' default interval of a minute.
  const [shorter, longer] = ['1m', '4m'].map((window) => `sum ${BY} (rate(${family}[${window}]))`);
  return `${shorter} or ${longer}`;
}

/** Systems with at least one server. */
export function systemsOfSeries(series: readonly PrometheusSeries[]): SystemServers[] {
  const values = new Map(
    series.map(({ refId, labels, values: all }) => [key(refId, labels['job'], labels['instance']), all.at(-1)])
  );
  return SYSTEMS.flatMap((system) => {
    const present = series.filter(({ refId }) => refId === `${system.id} presence`);
    const instances = [...new Set(present.map(({ labels }) => labels['instance'] ?? ''))].sort();
    const servers = instances.map((instance): ServerRow => {
      const isUp = (job: string) => values.has(key('up', job, instance));
      const jobs = present
        .filter(({ labels }) => (labels['instance'] ?? '') === instance)
        .map(({ labels }) => labels['job'] ?? '')
        .sort((a, b) => Number(isUp(b)) - Number(isUp(a)) || a.localeCompare(b));
      // Each job scrapes the same counters: use one, since adding them would count the server twice.
      const signal = (name: SignalId) =>
        jobs.map((job) => values.get(key(`${system.id} ${name}`, job, instance))).find((value) => value != null) ??
        null;
      return {
        jobs,
        instance,
        up: jobs.some(isUp),
        running: signal('running'),
        waiting: signal('waiting'),
        kvCache: signal('kvCache'),
        outputTokens: signal('outputTokens'),
        requests: signal('requests'),
      };
    });
    return servers.length === 0 ? [] : [{ system, servers }];
  });
}

function key(refId: string, job = '', instance = ''): string {
  return [refId, job, instance].join('\n');
}
