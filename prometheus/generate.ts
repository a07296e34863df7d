/** Writes the generated files: `node prometheus/generate.ts [--runbooks-url URL]`. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { COMPOSE_PROMETHEUS_CONFIG, renderPrometheusConfig } from './config.ts';
import { renderGrafanaAlerts } from './grafana-alerts.ts';
import { renderNativeRules } from './native-rules.ts';
import { renderObjectives } from './objectives.ts';
import { RUNBOOKS_URL, withRunbooks } from './runbooks.ts';

const { values } = parseArgs({ options: { 'runbooks-url': { type: 'string', default: RUNBOOKS_URL } } });
if (!/^https?:\/\//.test(values['runbooks-url']) || !URL.canParse(values['runbooks-url'])) {
  console.error(`--runbooks-url: not an HTTP URL: ${values['runbooks-url']}`);
  process.exit(2);
}

await writeFile(new URL('prometheus.yml', import.meta.url), renderPrometheusConfig());
await writeFile(new URL('rules/objectives.yml', import.meta.url), renderObjectives());
const nativeRules = new URL('native/rules/', import.meta.url);
await rm(nativeRules, { recursive: true, force: true });
await mkdir(nativeRules, { recursive: true });
for (const name of await readdir(new URL('rules/', import.meta.url))) {
  const yaml = await readFile(new URL(`rules/${name}`, import.meta.url), 'utf8');
  await writeFile(new URL(name, nativeRules), renderNativeRules(yaml, `prometheus/rules/${name}`));
}
for (const name of await readdir(new URL('alerts/', import.meta.url))) {
  const file = new URL(`alerts/${name}`, import.meta.url);
  await writeFile(file, withRunbooks(await readFile(file, 'utf8'), values['runbooks-url']));
}
const compose = renderPrometheusConfig(COMPOSE_PROMETHEUS_CONFIG);
await writeFile(new URL('../deploy/prometheus.yml', import.meta.url), compose);
await writeFile(
  new URL('../grafana-plugin/provisioning/alerting/llmbench.yaml', import.meta.url),
  renderGrafanaAlerts(),
);
