/** One series of a response: each sample is (Unix seconds, value as text). */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly samples: readonly (readonly [number, string])[];
  /** Native histograms over time, where these are the values. */
  readonly histograms?: readonly (readonly [number, NativeHistogram])[];
}

/** A native histogram as the HTTP API writes it: without its empty buckets. */
interface NativeHistogram {
  readonly count: string;
  /** Each with the rule of its bounds, the lower and the upper bound, and the count. */
  readonly buckets?: readonly (readonly [number, string, string, string])[];
}

interface Response {
  readonly status: string;
  readonly error?: string;
  readonly data: unknown;
}

async function get(server: string, path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
  const response = await fetch(`${server}/api/v1/${path}?${new URLSearchParams(query).toString()}`);
  const answer = (await response.json()) as Response;
  if (answer.status !== 'success') throw new Error(answer.error ?? `${path}: ${answer.status}`);
  return answer.data;
}

/** The values at one instant. */
export async function instantQuery(server: string, expr: string, atSeconds: number): Promise<readonly Series[]> {
  const data = (await get(server, 'query', { query: expr, time: String(atSeconds) })) as {
    readonly result: readonly { readonly metric: Series['metric']; readonly value: readonly [number, string] }[];
  };
  return data.result.map(({ metric, value }) => ({ metric, samples: [value] }));
}

export interface RangeQuery {
  readonly expr: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly stepSeconds: number;
}

/** The values over time. */
export async function rangeQuery(server: string, query: RangeQuery): Promise<readonly Series[]> {
  return matrixOf(server, 'query_range', {
    query: query.expr,
    start: String(query.startSeconds),
    end: String(query.endSeconds),
    step: String(query.stepSeconds),
  });
}

/** All samples, as they are stored, of an instant query with a range. */
export async function matrixQuery(server: string, expr: string, atSeconds: number): Promise<readonly Series[]> {
  return matrixOf(server, 'query', { query: expr, time: String(atSeconds) });
}

async function matrixOf(
  server: string,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly Series[]> {
  const data = (await get(server, path, query)) as {
    readonly result: readonly (Pick<Series, 'metric' | 'histograms'> & { readonly values?: Series['samples'] })[];
  };
  return data.result.map(({ metric, values = [], histograms = [] }) => ({ metric, samples: values, histograms }));
}

/** The values of a label among the series that match. */
export async function labelValues(server: string, label: string, series: string): Promise<readonly string[]> {
  return (await get(server, `label/${label}/values`, { 'match[]': series })) as readonly string[];
}

/** How the last evaluation of a rule or an alert went. */
export interface RuleHealth {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
}

/** A group of rules, with how long its last evaluation took in seconds. */
interface RuleGroup {
  readonly name: string;
  readonly evaluationTime: number;
  readonly rules: readonly RuleHealth[];
}

/** Every group of rules that is loaded. */
export async function ruleGroups(server: string): Promise<readonly RuleGroup[]> {
  const { groups } = (await get(server, 'rules', {})) as { readonly groups: readonly RuleGroup[] };
  return groups;
}

/** The health of every rule that is loaded. */
export async function ruleHealth(server: string): Promise<readonly RuleHealth[]> {
  const groups = await ruleGroups(server);
  return groups.flatMap(({ rules }) => rules.map(({ name, health, lastError = '' }) => ({ name, health, lastError })));
}

/** Deletes the samples of the series that match until this time; requires `--web.enable-admin-api`. */
export async function deleteSeries(server: string, series: string, endSeconds: number): Promise<void> {
  const query = new URLSearchParams({ 'match[]': series, end: String(endSeconds) });
  const response = await fetch(`${server}/api/v1/admin/tsdb/delete_series?${query.toString()}`, { method: 'POST' });
  if (!response.ok) throw new Error(`delete_series: status ${response.status}`);
}
