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

/**
 * The value of each variable but of `run` and `job`, as the dashboard opens: all of what offers All, otherwise the first
 * choice. `expand` replaces the variables in a query by the values that are chosen already.
 */
export async function openingValues(
  server: string,
  variables: readonly ClassicVariable[],
  expand: (text: string, chosen: Readonly<Record<string, string>>) => string,
  endSeconds: number,
): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const variable of variables.filter(({ name }) => name !== 'run' && name !== 'job')) {
    const { name, type, allValue, current } = variable;
    const value = String(current?.value ?? '');
    if (allValue !== undefined) values[name] = allValue;
    else if (type !== 'query') values[name] = value;
    else {
      const options = await variableOptions(server, variable, (text) => expand(text, values), endSeconds);
      const offered = options.map((option) => option.value);
      values[name] = value === '$__all' ? offered.join('|') : (offered[0] ?? '');
    }
  }
  return values;
}

/** A series as Grafana writes it before the regular expression of a variable is applied. */
function asText({ metric: { __name__: name = '', ...labels }, samples: [sample] }: Series): string {
  const written = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const [seconds = 0, value = ''] = sample ?? [];
  return `${name}{${written.join(',')}} ${value} ${seconds * 1000}`;
}
