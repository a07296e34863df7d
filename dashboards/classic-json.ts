/** What the tests read of a committed dashboard: Grafana's classic JSON, as far as llmbench uses it. */
export interface ClassicDashboard {
  readonly id: number | null;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly editable: boolean;
  readonly tags: readonly string[];
  readonly links: readonly {
    readonly type: string;
    readonly tags: readonly string[];
    readonly includeVars: boolean;
    readonly keepTime: boolean;
  }[];
  readonly refresh: string;
  readonly timepicker?: Readonly<Record<string, unknown>>;
  readonly templating: { readonly list: readonly ClassicVariable[] };
  readonly annotations: { readonly list: readonly ClassicAnnotation[] };
  readonly panels: readonly ClassicPanel[];
}

export interface ClassicVariable {
  readonly type: string;
  readonly name: string;
  readonly label?: string;
  readonly query?: string | { readonly query: string };
  readonly datasource?: Datasource;
  readonly multi?: boolean;
  readonly allValue?: string;
  readonly refresh?: number;
  readonly current?: { readonly text?: string | readonly string[]; readonly value?: string | readonly string[] };
  readonly regex?: string;
  /** 2: not shown, 3: in the menu of controls. */
  readonly hide?: number;
}

export interface ClassicAnnotation {
  readonly name: string;
  readonly datasource: Datasource;
  readonly expr?: string;
  readonly textFormat?: string;
  readonly placement?: string;
  readonly target?: { readonly expr?: string };
}

export interface ClassicPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: Datasource;
  readonly fieldConfig?: {
    readonly defaults: { readonly unit?: string; readonly noValue?: string; readonly mappings?: readonly unknown[] };
    readonly overrides: readonly {
      readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
    }[];
  };
  readonly targets?: readonly ClassicTarget[];
  readonly transformations?: readonly { readonly id: string; readonly options: object }[];
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  /** Variable for whose values the panel is repeated. */
  readonly repeat?: string;
  /** Of a row that is collapsed. */
  readonly panels?: readonly ClassicPanel[];
}

export interface ClassicTarget {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly instant?: boolean;
  readonly datasource?: Datasource;
}

interface Datasource {
  readonly type: string;
  readonly uid: string;
}

/** All panels but the rows themselves. */
export function panelsOf(dashboard: ClassicDashboard): readonly ClassicPanel[] {
  return dashboard.panels.flatMap((panel) => (panel.type === 'row' ? (panel.panels ?? []) : [panel]));
}

/** What a table calls the values of a query; of any other panel its own title. */
export function columnTitle({ title, targets = [], transformations = [] }: ClassicPanel, refId: string): string {
  const [names] = transformations.flatMap(({ options }) =>
    'renameByName' in options ? [options.renameByName as Readonly<Record<string, string>>] : [],
  );
  return names?.[targets.length === 1 ? 'Value' : `Value #${refId}`] ?? title;
}
