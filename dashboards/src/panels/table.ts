import { PanelBuilder } from '@grafana/grafana-foundation-sdk/table';
import { asTable } from '../target.ts';
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
