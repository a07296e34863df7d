/** One series of an answer of Prometheus' HTTP API; values are [seconds since 1970, text of the number]. */
export interface PrometheusSeries {
  metric: Record<string, string>;
  values: Array<[time: number, value: string]>;
}

export interface RangeQuery {
  query: string;
  /** Seconds since 1970. */
  start: number;
  end: number;
  step: number;
}

interface Answer {
  status: string;
  error?: string;
  data: {
    result: Array<{ metric: Record<string, string>; values?: PrometheusSeries['values']; value?: [number, string] }>;
  };
}

export async function queryRange({ query, start, end, step }: RangeQuery): Promise<PrometheusSeries[]> {
  const { result } = await get('query_range', { query, start: `${start}`, end: `${end}`, step: `${step}` });
  return result.map(({ metric, values }) => ({ metric, values: values ?? [] }));
}

/** One value per series, at `time` (seconds since 1970). */
export async function queryInstant(query: string, time: number): Promise<PrometheusSeries[]> {
  const { result } = await get('query', { query, time: `${time}` });
  return result.map(({ metric, value }) => ({ metric, values: value ? [value] : [] }));
}

async function get(path: string, parameters: Record<string, string>): Promise<Answer['data']> {
  const response = await fetch(`/prometheus/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const answer: Answer = await response.json();
  if (answer.status !== 'success') {
    throw new Error(`Prometheus: ${answer.error ?? response.status}`);
  }
  return answer.data;
}
