import { getBackendSrv } from '@grafana/runtime';
import { useCallback } from 'react';
import { lastValueFrom } from 'rxjs';
import { usePage } from '../hooks/page-context.ts';
import { nativeOnlyQuery } from '../prometheus/native-only.ts';
import { queryPrometheus, type TimeSpan } from '../prometheus/query-prometheus.ts';
import { LINKED_DASHBOARDS, nativeVariants } from './dashboard-link.ts';
import { useLoaded } from '../hooks/useLoaded.ts';

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
  const { FIRST_TOKEN_HISTOGRAMS } = await import('../prometheus/first-token-histograms.ts');
  const target = { refId: 'native', expr: nativeOnlyQuery(FIRST_TOKEN_HISTOGRAMS), instant: true };
  return (await queryPrometheus(prometheus, [target], time)).length > 0;
}
