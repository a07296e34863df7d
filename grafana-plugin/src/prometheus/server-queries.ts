import type { PrometheusSeries, PrometheusTarget } from './query-prometheus.ts';
import { SIGNAL_IDS, type SignalId, SYSTEMS, type ServerSystem } from '../catalog/systems.ts';

/** One server that Prometheus scraped in the time range; null: not exposed, or not now. */
export interface ServerRow extends Record<SignalId, number | null> {
  /** The jobs that scrape it: those that do now first. */
  jobs: string[];
  instance: string;
  up: boolean;
  /** Of an engine that is listed under its frontend, its own system; null for others. */
  worker: ServerSystem | null;
  /** The newest run that read its metrics. */
  run: { run_id: string; scenario: string } | null;
  /** Milliseconds since 1970: when it was scraped last. */
  lastSeenMs: number | null;
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
  const step = Math.max(SEEN_STEP_SECONDS, Math.ceil(rangeSeconds / MAX_SEEN_STEPS));
  return [
    ['up', 'up == 1'] as [string, string],
    ['seen', `max ${BY} (max_over_time(timestamp(up == 1)${range.replace(']', `:${step}s]`)}))`] as [string, string],
    ['run', runOfTarget(range)] as [string, string],
    ['ended', edgeOfRun('end', range)] as [string, string],
    ...queries,
  ].map(([refId, expr]) => ({ refId, expr, instant: true }));
}

/** How exactly it is known when a server was seen last. */
const SEEN_STEP_SECONDS = 15;
const MAX_SEEN_STEPS = 1440;

/** Of the measure phase. */
function edgeOfRun(edge: 'start' | 'end', range: string): string {
  const family = `llmbench_run_phase_${edge}_timestamp_seconds{phase="measure"}`;
  return `max by (run_id) (last_over_time(${family}${range}) > 0)`;
}

/** When each run that read a metrics page began. */
function runOfTarget(range: string): string {
  const last = (family: string) => `last_over_time(${family}${range})`;
  const began = edgeOfRun('start', range);
  const info = `max by (run_id, scenario, system) (${last('llmbench_run_info')})`;
  const targets = `max by (run_id, address) (${last('llmbench_run_target_info')})`;
  return `${targets} * on (run_id) group_left () ${began} * on (run_id) group_left (scenario, system) ${info}`;
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

/** Systems with at least one server; the engines of a system that has workers follow its own servers. */
export function systemsOfSeries(series: readonly PrometheusSeries[]): SystemServers[] {
  const values = new Map(
    series.map(({ refId, labels, values: all }) => [key(refId, labels['job'], labels['instance']), all.at(-1)])
  );
  const runOf = newestRuns(series);
  const endOf = new Map(
    series.filter(({ refId }) => refId === 'ended').map(({ labels, values: all }) => [labels['run_id'], all.at(-1)])
  );
  const found = SYSTEMS.flatMap((system) => {
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
      const { run_id = '', scenario = '' } = runOf.get(instance) ?? {};
      // A server that is discovered for a short run may be up between two steps only.
      const seen = Math.max(endOf.get(run_id) ?? 0, ...jobs.map((job) => values.get(key('seen', job, instance)) ?? 0));
      return {
        jobs,
        instance,
        up: jobs.some(isUp),
        worker: null,
        run: run_id === '' ? null : { run_id, scenario },
        lastSeenMs: seen > 0 ? seen * 1000 : null,
        running: signal('running'),
        waiting: signal('waiting'),
        kvCache: signal('kvCache'),
        outputTokens: signal('outputTokens'),
        requests: signal('requests'),
      };
    });
    return servers.length === 0 ? [] : [{ system, servers }];
  });
  return underFrontends(found, runOf);
}

type RunLabels = Readonly<Record<string, string>>;

/** The labels of the newest run that read the metrics page of an instance. */
function newestRuns(series: readonly PrometheusSeries[]): ReadonlyMap<string, RunLabels> {
  const runs = series.filter(({ refId }) => refId === 'run');
  runs.sort((a, b) => (a.values.at(-1) ?? 0) - (b.values.at(-1) ?? 0));
  return new Map(runs.map(({ labels }) => [labels['address'] ?? '', labels]));
}

/** Moves engines to the system of their newest run if that has workers and is there itself. */
function underFrontends(found: readonly SystemServers[], runOf: ReadonlyMap<string, RunLabels>): SystemServers[] {
  const frontends = new Set(found.filter(({ system }) => system.hasWorkers).map(({ system }) => system.id));
  const frontendOf = ({ instance }: ServerRow, { id }: ServerSystem): string => {
    const owner = runOf.get(instance)?.['system'] ?? '';
    return frontends.has(owner) && !frontends.has(id) ? owner : id;
  };
  return found.flatMap(({ system }) => {
    const servers = found.flatMap((one) =>
      one.servers
        .filter((server) => frontendOf(server, one.system) === system.id)
        .map((server) => ({ ...server, worker: one.system.id === system.id ? null : one.system }))
    );
    servers.sort((a, b) => Number(a.worker !== null) - Number(b.worker !== null));
    return servers.length === 0 ? [] : [{ system, servers }];
  });
}

function key(refId: string, job = '', instance = ''): string {
  return [refId, job, instance].join('\n');
}
