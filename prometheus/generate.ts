/** Writes the generated files: `node prometheus/generate.ts [--runbooks-url URL] [--max-scrape-interval SECONDS]`. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { MAX_SCRAPE_INTERVAL_SECONDS } from '../core/objectives/rule-settings.ts';
import { COMPOSE_PROMETHEUS_CONFIG, renderPrometheusConfig } from './config.ts';
import { rulesWithFormerNames } from './former-names.ts';
import { renderGrafanaAlerts } from './grafana-alerts.ts';
import { renderObjectives } from './objectives.ts';
import { RUNBOOKS_URL, withRateWindow, withRunbooks } from './rule-text.ts';
import { renderNativeRules } from './native-histograms.ts';

const { values } = parseArgs({
  options: {
    'runbooks-url': { type: 'string', default: RUNBOOKS_URL },
    'max-scrape-interval': { type: 'string', default: String(MAX_SCRAPE_INTERVAL_SECONDS) },
  },
});
if (!/^https?:\/\//.test(values['runbooks-url']) || !URL.canParse(values['runbooks-url'])) {
  console.error(`--runbooks-url: not an HTTP URL: ${values['runbooks-url']}`);
  process.exit(2);
}
const maxScrapeInterval = Number(values['max-scrape-interval']);
// After 5 minutes without a scrape a series has no value: longer intervals do not survive a scrape that fails.
if (!(Number.isInteger(maxScrapeInterval) && maxScrapeInterval >= 1 && maxScrapeInterval <= 120)) {
  console.error(`--max-scrape-interval: not a number of seconds from 1 to 120: ${values['max-scrape-interval']}`);
  process.exit(2);
}

await writeFile(new URL('prometheus.yml', import.meta.url), renderPrometheusConfig());
await writeFile(new URL('rules/objectives.yml', import.meta.url), renderObjectives());
const nativeRules = new URL('native/rules/', import.meta.url);
await rm(nativeRules, { recursive: true, force: true });
await mkdir(nativeRules, { recursive: true });
for (const name of await readdir(new URL('rules/', import.meta.url))) {
  const file = new URL(`rules/${name}`, import.meta.url);
  const yaml = rulesWithFormerNames(withRateWindow(await readFile(file, 'utf8'), maxScrapeInterval));
  await writeFile(file, yaml);
  await writeFile(new URL(name, nativeRules), renderNativeRules(yaml, `prometheus/rules/${name}`));
}
for (const name of await readdir(new URL('alerts/', import.meta.url))) {
  const file = new URL(`alerts/${name}`, import.meta.url);
  const yaml = withRateWindow(await readFile(file, 'utf8'), maxScrapeInterval);
  await writeFile(file, withRunbooks(yaml, values['runbooks-url']));
}
const compose = renderPrometheusConfig(COMPOSE_PROMETHEUS_CONFIG);
await writeFile(new URL('../deploy/prometheus.yml', import.meta.url), compose);
await writeFile(
  new URL('../grafana-plugin/provisioning/alerting/llmbench.yaml', import.meta.url),
  renderGrafanaAlerts(),
);
