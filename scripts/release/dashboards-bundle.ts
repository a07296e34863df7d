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

/** Packs the dashboards as grafana.com and Grafana's import dialog read them. */
export function dashboardsBundle({ root, folder, version, date }: Options): void {
  const source = join(root, 'dashboards');
  const dashboards = readdirSync(source)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => [file, JSON.parse(readFileSync(join(source, file), 'utf8')) as StoredDashboard] as const);
  const top = `llmbench-dashboards-${version}`;
  const files = new Map([
    [`${top}/README.md`, readme(dashboards, version)],
    [`${top}/LICENSE`, readFileSync(join(root, 'LICENSE'), 'utf8')],
    ...dashboards.map(([file, dashboard]): [string, string] => [
      `${top}/${file}`,
      `${JSON.stringify(shareable(dashboard), null, 2)}\n`,
    ]),
  ]);
  writeZip(join(folder, `${top}.zip`), files, date);
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
`;
}
