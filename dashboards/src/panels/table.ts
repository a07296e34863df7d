import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard';
import { asTable, APP_PAGE_OF_SCENARIO, appPageOfRun, asTables } from '../target.ts';
import { framed, type PanelFrame } from './frame.ts';

export interface FactsTableOptions extends PanelFrame {
  /** An `…_info` query: the labels are the facts, the value 1 says nothing. */
  readonly expr: string;
  /** The columns, from left to right. */
  readonly labels: readonly string[];
  /** What it means that there is nothing to show. */
  readonly noValue?: string;
}

export interface InfoTableOptions extends FactsTableOptions {
  /** The columns whose cells lead somewhere. */
  readonly linked: readonly string[];
  readonly links: readonly { readonly title: string; readonly url: string; readonly targetBlank: boolean }[];
}

/** The labels of an info metric, one row per series. */
export function factsTable(options: FactsTableOptions): PanelBuilder {
  const indexByName = Object.fromEntries(options.labels.map((label, index) => [label, index]));
  return (
    framed(new PanelBuilder(), options)
      .unit('none')
      .noValue(options.noValue ?? '–')
      .filterable(true)
      .withTransformation({
        id: 'organize',
        options: { excludeByName: { Time: true, Value: true }, indexByName, renameByName: {} },
      })
      // The text above is for a table without rows; Grafana writes it into empty cells too.
      .overrideByRegexp('.*', [{ id: 'noValue', value: '–' }])
      .targets([asTable({ expr: options.expr, legend: '' })])
  );
}

/** The same, with cells that lead somewhere. */
export function infoTable(options: InfoTableOptions): PanelBuilder {
  const table = factsTable(options);
  for (const label of options.linked) table.overrideByName(label, [{ id: 'links', value: options.links }]);
  return table;
}

export interface Column {
  readonly title: string;
  /** An instant query; the series of all columns have the same labels. */
  readonly expr: string;
  /** Unit, mapping, color, … */
  readonly properties: readonly DynamicConfigValue[];
}

export interface JoinedTableOptions extends PanelFrame {
  /** What it means that there is nothing to show. */
  readonly noValue: string;
  /** The labels that identify a row, with the titles of their columns. */
  readonly labels: Readonly<Record<string, string>>;
  /** Of these columns, in pixels; the first has 150, the others share what is left. */
  readonly widths?: Readonly<Record<string, number>>;
  /** What the rows are of: the first column leads to its page in the app. */
  readonly rowsOf?: 'runs' | 'scenarios';
  /** Title of the column that orders the rows, the smallest value first. */
  readonly sortBy?: string;
  readonly columns: readonly Column[];
}

/** One row per set of labels, one column per query. */
export function joinedTable(options: JoinedTableOptions): PanelBuilder {
  const fields = asTables(options.columns.map(({ expr }) => ({ expr, legend: '' })));
  const names = Object.keys(options.labels);
  const panel = framed(new PanelBuilder(), options)
    .unit('locale')
    .noValue(options.noValue)
    // Grafana's 150 pixels are more than numbers need, and the last columns would leave a screen of 1024. There, titles have
    // two lines and no sign of a filter.
    .minWidth(74)
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries(
          [...names, ...fields.map(({ field }) => field)].map((name, index) => [name, index]),
        ),
        renameByName: {
          ...options.labels,
          ...Object.fromEntries(fields.map(({ field }, index) => [field, options.columns[index]?.title ?? ''])),
        },
      },
    })
    // The text above is for a table without rows; Grafana writes it into empty cells too.
    .overrideByRegexp('.*', [
      { id: 'noValue', value: '–' },
      { id: 'custom.wrapHeaderText', value: true },
    ])
    .targets(fields.map(({ target }) => target));
  const [first = ''] = names;
  const widths = { [options.labels[first] ?? '']: 150, ...options.widths };
  for (const [title, value] of Object.entries(widths)) panel.overrideByName(title, [{ id: 'custom.width', value }]);
  for (const name of names)
    panel.overrideByName(options.labels[name] ?? '', [{ id: 'custom.filterable', value: true }]);
  if (options.rowsOf !== undefined) {
    const page = options.rowsOf === 'runs' ? appPageOfRun('__data.fields.run_id') : APP_PAGE_OF_SCENARIO;
    panel.overrideByName(options.labels[first] ?? '', [{ id: 'links', value: [page] }]);
  }
  if (options.sortBy !== undefined) {
    panel.sortBy([new TableSortByFieldStateBuilder().displayName(options.sortBy).desc(false)]);
  }
  for (const { title, properties } of options.columns) panel.overrideByName(title, [...properties]);
  return panel;
}
