/** One series of a response of Prometheus' HTTP API; values are [seconds since 1970, text of the number]. */
export interface PrometheusSeries {
  metric: Record<string, string>;
  values: Array<[time: number, value: string]>;
  /** Of a native histogram, which has no values. */
  histograms?: Array<[time: number, histogram: NativeHistogram]>;
}

/** Buckets without observations are left out; `buckets` is missing where there are none. */
interface NativeHistogram {
  count: string;
  sum: string;
  buckets?: Array<[boundaries: number, low: string, high: string, count: string]>;
}

export interface RangeQuery {
  query: string;
  /** Seconds since 1970. */
  start: number;
  end: number;
  step: number;
}

interface Response {
  status: string;
  error?: string;
  data: {
    result: Array<
      Partial<PrometheusSeries> & {
        metric: Record<string, string>;
        value?: [number, string];
        histogram?: [number, NativeHistogram];
      }
    >;
  };
}

/** Prometheus' HTTP API under a path of the page's own server. Throws what Prometheus gives as the reason. */
export function prometheusApi(path: string) {
  const get = async (name: string, parameters: Record<string, string>): Promise<Response['data']> => {
    const response = await fetch(`${path}/api/v1/${name}?${new URLSearchParams(parameters)}`);
    const answer: Response = await response.json();
    if (answer.status !== 'success') {
      throw new Error(`Prometheus: ${answer.error ?? response.status}`);
    }
    return answer.data;
  };
  return {
    async range({ query, start, end, step }: RangeQuery): Promise<PrometheusSeries[]> {
      const { result } = await get('query_range', { query, start: `${start}`, end: `${end}`, step: `${step}` });
      return result.map((series) => ({ ...series, values: series.values ?? [] }));
    },
    /** One value per series, at `time` (seconds since 1970). */
    async instant(query: string, time: number): Promise<PrometheusSeries[]> {
      const { result } = await get('query', { query, time: `${time}` });
      return result.map(({ metric, value, histogram }) => ({
        metric,
        values: value ? [value] : [],
        ...(histogram && { histograms: [histogram] }),
      }));
    },
  };
}
