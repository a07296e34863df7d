import { writeFile } from 'node:fs/promises';
import { COMPOSE_PROMETHEUS_CONFIG, renderPrometheusConfig } from './config.ts';
import { renderGrafanaAlerts } from './grafana-alerts.ts';

await writeFile(new URL('prometheus.yml', import.meta.url), renderPrometheusConfig());
const compose = renderPrometheusConfig(COMPOSE_PROMETHEUS_CONFIG);
await writeFile(new URL('../deploy/prometheus.yml', import.meta.url), compose);
await writeFile(new URL('../provisioning/alerting/llmbench.yaml', import.meta.url), renderGrafanaAlerts());
