import { urlUtil } from '@grafana/data';
import type { TimeSpan } from '../prometheus/query-prometheus.ts';

interface DashboardPlace {
  time: TimeSpan;
  /** Uid of the Prometheus data source. */
  prometheus: string | null;
  runId?: string;
  job?: string;
  instance?: string;
}

/** The dashboards that the project ships, by the system that they show. */
const DASHBOARDS: Readonly<Record<string, string>> = {
  vllm: 'llmbench-vllm',
  sglang: 'llmbench-sglang',
  smg: 'llmbench-sglang',
  trtllm: 'llmbench-trtllm',
  triton: 'llmbench-triton',
  dynamo: 'llmbench-dynamo',
  kvbm: 'llmbench-kvbm',
};

/** The dashboard of a system at a time; that for any other system where it has none. Null: the system is not known. */
export function serverDashboardUrl(system: string | null, place: DashboardPlace): string | null {
  return system === null ? null : dashboardUrl(DASHBOARDS[system] ?? 'llmbench-generic', place);
}

export function benchmarkDashboardUrl(place: DashboardPlace): string {
  return dashboardUrl('llmbench-benchmark', place);
}

function dashboardUrl(uid: string, { time, prometheus, runId, job, instance }: DashboardPlace): string {
  return urlUtil.renderUrl(`/d/${uid}`, {
    from: time.from,
    to: time.to,
    ...(prometheus !== null && { 'var-datasource': prometheus }),
    ...(runId !== undefined && { 'var-run': runId }),
    ...(job !== undefined && { 'var-job': job }),
    ...(instance !== undefined && { 'var-instance': instance }),
  });
}
