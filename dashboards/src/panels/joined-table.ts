import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import type { DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard';
import { asTables } from '../target.ts';
import { framed, type PanelFrame } from './frame.ts';

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
  /** The labels that identify a row. */
  readonly labels: readonly string[];
  readonly columns: readonly Column[];
}

/** One row per set of labels, one column per query. */
export function joinedTable(options: JoinedTableOptions): PanelBuilder {
  const fields = asTables(options.columns.map(({ expr }) => ({ expr, legend: '' })));
  const panel = framed(new PanelBuilder(), options)
    .unit('locale')
    .noValue(options.noValue)
    .filterable(true)
    // Grafana's 150 pixels are more than numbers need, and the last columns would leave a small screen.
    .minWidth(110)
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: { Time: true },
        indexByName: Object.fromEntries(
          [...options.labels, ...fields.map(({ field }) => field)].map((name, index) => [name, index]),
        ),
        renameByName: Object.fromEntries(
          fields.map(({ field }, index) => [field, options.columns[index]?.title ?? '']),
        ),
      },
    })
    // The text above is for a table without rows; Grafana writes it into empty cells too.
    .overrideByRegexp('.*', [{ id: 'noValue', value: '–' }])
    .targets(fields.map(({ target }) => target));
  for (const { title, properties } of options.columns) panel.overrideByName(title, [...properties]);
  return panel;
}
