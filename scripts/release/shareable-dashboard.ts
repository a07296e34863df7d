/** What is read of a dashboard in Grafana's classic JSON. */
export interface StoredDashboard {
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
export function shareable(dashboard: StoredDashboard): ShareableDashboard {
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
    throw new Error(`scripts/release/shareable-dashboard.ts has no name for the panel type ${type}`);
  return name;
}
