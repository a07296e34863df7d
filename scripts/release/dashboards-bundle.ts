import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeZip } from './archive.ts';
import { shareable, type StoredDashboard } from './shareable-dashboard.ts';

interface Options {
  readonly root: string;
  readonly folder: string;
  readonly version: string;
  readonly date: Date;
}

/** Packs the dashboards as grafana.com and Grafana's import dialog read them; `native/` has those for native histograms and their rules. */
export function dashboardsBundle({ root, folder, version, date }: Options): void {
  const natives = dashboardsIn(join(root, 'prometheus/native/dashboards'));
  const dashboards = [
    ...dashboardsIn(join(root, 'dashboards')),
    ...natives.map(([file, dashboard]) => [`native/${file}`, dashboard] as const),
  ];
  const rules = join(root, 'prometheus/native/rules');
  const top = `llmbench-dashboards-${version}`;
  const files = new Map([
    [`${top}/README.md`, readme(dashboards, version)],
    [`${top}/LICENSE`, readFileSync(join(root, 'LICENSE'), 'utf8')],
    ...dashboards.map(([file, dashboard]): [string, string] => [
      `${top}/${file}`,
      `${JSON.stringify(shareable(dashboard), null, 2)}\n`,
    ]),
    ...readdirSync(rules).map((file): [string, string] => [
      `${top}/native/rules/${file}`,
      readFileSync(join(rules, file), 'utf8'),
    ]),
  ]);
  writeZip(join(folder, `${top}.zip`), files, date);
}

function dashboardsIn(folder: string): readonly (readonly [file: string, dashboard: StoredDashboard])[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => [file, JSON.parse(readFileSync(join(folder, file), 'utf8')) as StoredDashboard] as const);
}

function readme(dashboards: readonly (readonly [string, StoredDashboard])[], version: string): string {
  const rows = dashboards.map(([file, { title, description }]) => `| \`${file}\` | ${title} | ${description ?? ''} |`);
  return `# llmbench dashboards ${version}

Dashboards of LLM benchmarks and inference servers for Grafana 10.4 or newer with a Prometheus data source. No plugin is
required.

| file | title | content |
| ---- | ----- | ------- |
${rows.join('\n')}

1. In Grafana, open Dashboards, New, Import, and select a file.
2. Select the Prometheus data source that scrapes \`llmbench serve\` and the servers. It can be changed on the dashboard.

Panels that compare client and servers query recording rules, which the npm package \`llmbench-observability\` contains in
\`dist/prometheus/rules\`. Without the rules, these panels have no data.

The dashboards in \`native/\` require Prometheus 3.5 or newer and the rules in \`native/rules\` instead: they also read native
histograms.
`;
}
