export const PLUGIN_ID = 'llmbench-observability-app';
export const RUNS_DATASOURCE_ID = 'llmbench-runs-datasource';
export const PROMETHEUS_ID = 'prometheus';
