import { urlUtil } from '@grafana/data';
import { getBackendSrv } from '@grafana/runtime';
import { useCallback } from 'react';
import { lastValueFrom } from 'rxjs';
import { usePage } from '../hooks/page-context.ts';
import { useLoaded } from '../hooks/useLoaded.ts';
import { nativeOnlyQuery } from '../prometheus/native-queries.ts';
import { queryPrometheus, type TimeSpan } from '../prometheus/query-prometheus.ts';

interface DashboardPlace {
  time: TimeSpan;
  /** Uid of the Prometheus data source. */
  prometheus: string | null;
  runId?: string;
  job?: string;
  instance?: string;
  /** Uids of the dashboards to use in their variant for native histograms. */
  natives: ReadonlySet<string>;
}

/** At the end of the uid of a dashboard's variant for native histograms. */
const NATIVE_SUFFIX = '-native';
const GENERIC = 'llmbench-generic';
const BENCHMARK = 'llmbench-benchmark';
const HISTORY = 'llmbench-history';

/** The dashboards that the project ships, by the system that they show. */
const DASHBOARDS: Readonly<Record<string, string>> = {
  vllm: 'llmbench-vllm',
  sglang: 'llmbench-sglang',
  smg: 'llmbench-sglang',
  trtllm: 'llmbench-trtllm',
  triton: 'llmbench-triton',
  dynamo: 'llmbench-dynamo',
  kvbm: 'llmbench-kvbm',
  'llm-d-epp': 'llmbench-llm-d-epp',
};

/** The dashboard of a system at a time; that for any other system where it has none. Null: the system is not known. */
export function serverDashboardUrl(system: string | null, place: DashboardPlace): string | null {
  return system === null ? null : dashboardUrl(DASHBOARDS[system] ?? GENERIC, place);
}

export function benchmarkDashboardUrl(place: DashboardPlace): string {
  return dashboardUrl(BENCHMARK, place);
}

/** The dashboards that links lead to, and their variants for native histograms. */
const LINKED_DASHBOARDS = [...new Set([...Object.values(DASHBOARDS), GENERIC, BENCHMARK])].flatMap((uid) => [
  uid,
  `${uid}${NATIVE_SUFFIX}`,
]);

/**
 * The dashboards of which Grafana has a variant for native histograms, by the uids that it has. Where it has both variants,
 * the one for native histograms is used if Prometheus stores such histograms only.
 */
export function nativeVariants(uids: ReadonlySet<string>, isNativeOnly: boolean): Set<string> {
  return new Set(
    LINKED_DASHBOARDS.filter((uid) => uids.has(`${uid}${NATIVE_SUFFIX}`) && (isNativeOnly || !uids.has(uid)))
  );
}

/** The history of scenarios as Prometheus has it. */
export function historyDashboardUrl(prometheus: string | null): string {
  return urlUtil.renderUrl(`/d/${HISTORY}`, prometheus === null ? {} : { 'var-datasource': prometheus });
}

function dashboardUrl(uid: string, { time, prometheus, runId, job, instance, natives }: DashboardPlace): string {
  return urlUtil.renderUrl(`/d/${uid}${natives.has(uid) ? NATIVE_SUFFIX : ''}`, {
    from: time.from,
    to: time.to,
    ...(prometheus !== null && { 'var-datasource': prometheus }),
    ...(runId !== undefined && { 'var-run': runId }),
    ...(job !== undefined && { 'var-job': job }),
    ...(instance !== undefined && { 'var-instance': instance }),
  });
}

const NONE: ReadonlySet<string> = new Set();

/** The dashboards to use in their variant for native histograms; none while it is not known which Grafana has. */
export function useNativeDashboards(): ReadonlySet<string> {
  const { prometheus, time } = usePage();
  const load = useCallback((signal: AbortSignal) => nativeDashboards(prometheus, time, signal), [prometheus, time]);
  return useLoaded(load).data ?? NONE;
}

async function nativeDashboards(prometheus: string | null, time: TimeSpan, signal: AbortSignal): Promise<Set<string>> {
  const uids = await provisioned(signal);
  const isUnclear = nativeVariants(uids, true).size > nativeVariants(uids, false).size;
  return nativeVariants(uids, isUnclear && prometheus !== null && (await storesNativesOnly(prometheus, time)));
}

/** Those of the linked dashboards that Grafana has and the user may see. */
async function provisioned(abortSignal: AbortSignal): Promise<Set<string>> {
  const parameters = new URLSearchParams([
    ['type', 'dash-db'],
    ...LINKED_DASHBOARDS.map((uid) => ['dashboardUIDs', uid] satisfies [string, string]),
  ]);
  const url = `/api/search?${parameters}`;
  const { data } = await lastValueFrom(
    getBackendSrv().fetch<Array<{ uid: string }>>({ url, method: 'GET', showErrorAlert: false, abortSignal })
  );
  return new Set(data.map(({ uid }) => uid));
}

async function storesNativesOnly(prometheus: string, time: TimeSpan): Promise<boolean> {
  const { FIRST_TOKEN_HISTOGRAMS } = await import('../catalog/server-catalog.ts');
  const target = { refId: 'native', expr: nativeOnlyQuery(FIRST_TOKEN_HISTOGRAMS), instant: true };
  return (await queryPrometheus(prometheus, [target], time)).length > 0;
}
