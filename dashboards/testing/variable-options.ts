import type { ClassicVariable } from '../classic-json.ts';
import { variableQuery } from '../lint.ts';
import { instantQuery, labelValues, type Series } from './prometheus-api.ts';

/** One choice of a variable: what is shown, and what is put into queries. */
export interface VariableOption {
  readonly text: string;
  readonly value: string;
}

/** The series and the label whose values a variable offers; null: it offers the result of a query. */
export function labelQuery(variable: ClassicVariable): { readonly series: string; readonly label: string } | null {
  const [, series, label] = /^label_values\((.*), (\w+)\)$/.exec(variableQuery(variable)) ?? [];
  return series === undefined || label === undefined ? null : { series, label };
}

/** What Grafana's Prometheus data source offers for a query variable; `expand` replaces the variables in its query. */
export async function variableOptions(
  server: string,
  variable: ClassicVariable,
  expand: (text: string) => string,
  endSeconds: number,
): Promise<readonly VariableOption[]> {
  const ofLabel = labelQuery(variable);
  if (ofLabel !== null) {
    const values = await labelValues(server, ofLabel.label, expand(ofLabel.series));
    return values.map((value) => ({ text: value, value }));
  }
  const [, expr = ''] = /^query_result\((.+)\)\s*$/.exec(variableQuery(variable)) ?? [];
  const pattern = new RegExp((variable.regex ?? '').slice(1, -1));
  const series = await instantQuery(server, expand(expr), endSeconds);
  return series.flatMap((each) => {
    const groups = pattern.exec(asText(each))?.groups;
    const value = groups?.['value'];
    return value === undefined ? [] : [{ text: groups?.['text'] ?? value, value }];
  });
}

/** A series as Grafana writes it before the regular expression of a variable is applied. */
function asText({ metric: { __name__: name = '', ...labels }, samples: [sample] }: Series): string {
  const written = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const [seconds = 0, value = ''] = sample ?? [];
  return `${name}{${written.join(',')}} ${value} ${seconds * 1000}`;
}
