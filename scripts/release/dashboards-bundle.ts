import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeZip } from './plugin-archive.ts';

/** What is read of a dashboard in Grafana's classic JSON. */
interface StoredDashboard {
  readonly title: string;
  readonly description?: string;
  readonly templating: { readonly list: readonly Variable[] };
  readonly panels: readonly Panel[];
}

interface Variable {
  readonly type: string;
  readonly name: string;
  readonly query?: unknown;
}

interface Panel {
  readonly type: string;
  readonly panels?: readonly Panel[];
}

/** A dashboard in the form of Grafana's "export for sharing", which grafana.com requires. */
export interface ShareableDashboard extends StoredDashboard {
  readonly __inputs: readonly object[];
  readonly __elements: object;
  readonly __requires: readonly {
    readonly type: string;
    readonly id: string;
    readonly name: string;
    readonly version: string;
  }[];
}

const INPUT = 'DS_PROMETHEUS';
/** The oldest Grafana that the dashboards are tested for. */
const GRAFANA_VERSION = '10.4.0';

/** Names of the panel types as Grafana shows them. */
const PANEL_NAMES: Readonly<Record<string, string>> = {
  alertlist: 'Alert list',
  heatmap: 'Heatmap',
  'state-timeline': 'State timeline',
  stat: 'Stat',
  table: 'Table',
  text: 'Text',
  timeseries: 'Time series',
};

/**
 * The dashboard with an input for its data source: the import dialog asks for it, and replaces `\${DS_PROMETHEUS}` by the answer.
 * That becomes the value of the data source variable, so that it can still be changed on the dashboard.
 */
function shareable(dashboard: StoredDashboard): ShareableDashboard {
  const reference = `\${${INPUT}}`;
  const list = dashboard.templating.list.map((variable) =>
    variable.type === 'datasource' && variable.query === 'prometheus'
      ? { ...variable, current: { selected: true, text: reference, value: reference } }
      : variable,
  );
  const types = [...new Set(dashboard.panels.flatMap(panelTypes))].sort();
  return {
    __inputs: [
      {
        name: INPUT,
        label: 'Prometheus',
        description: 'The Prometheus that scrapes llmbench serve and the servers',
        type: 'datasource',
        pluginId: 'prometheus',
        pluginName: 'Prometheus',
      },
    ],
    __elements: {},
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: GRAFANA_VERSION },
      { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
      ...types.map((id) => ({ type: 'panel', id, name: panelName(id), version: '' })),
    ],
    ...dashboard,
    templating: { ...dashboard.templating, list },
  };
}

/** Rows are part of the layout, not a type that Grafana could lack. */
const panelTypes = ({ type, panels = [] }: Panel): string[] => [
  ...(type === 'row' ? [] : [type]),
  ...panels.flatMap(panelTypes),
];

function panelName(type: string): string {
  const name = PANEL_NAMES[type];
  if (name === undefined)
    throw new Error(`scripts/release/dashboards-bundle.ts has no name for the panel type ${type}`);
  return name;
}

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
