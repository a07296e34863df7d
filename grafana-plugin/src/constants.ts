export const PLUGIN_ID = 'llmbench-observability-app';
export const RUNS_DATASOURCE_ID = 'llmbench-runs-datasource';
export const PROMETHEUS_ID = 'prometheus';

export const APP_URL = `/a/${PLUGIN_ID}`;

/** Paths of the pages below the app's URL. */
export const ROUTES = {
  overview: 'overview',
  runs: 'runs',
  compare: 'compare',
  trends: 'trends',
  sweeps: 'sweeps',
  alerts: 'alerts',
  servers: 'servers',
  buckets: 'buckets',
  setup: 'setup',
} as const;
export type Route = (typeof ROUTES)[keyof typeof ROUTES];

export function pageUrl(route: Route): string {
  return `${APP_URL}/${route}`;
}
