/** One series of an answer: each sample is (Unix seconds, value as text). */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly samples: readonly (readonly [number, string])[];
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: unknown;
}

async function get(server: string, path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
  const response = await fetch(`${server}/api/v1/${path}?${new URLSearchParams(query).toString()}`);
  const answer = (await response.json()) as Answer;
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
  const data = (await get(server, 'query_range', {
    query: query.expr,
    start: String(query.startSeconds),
    end: String(query.endSeconds),
    step: String(query.stepSeconds),
  })) as {
    readonly result: readonly { readonly metric: Series['metric']; readonly values: Series['samples'] }[];
  };
  return data.result.map(({ metric, values }) => ({ metric, samples: values }));
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

/** The health of every rule that is loaded. */
export async function ruleHealth(server: string): Promise<readonly RuleHealth[]> {
  const { groups } = (await get(server, 'rules', {})) as { readonly groups: readonly { rules: RuleHealth[] }[] };
  return groups.flatMap(({ rules }) => rules.map(({ name, health, lastError = '' }) => ({ name, health, lastError })));
}
