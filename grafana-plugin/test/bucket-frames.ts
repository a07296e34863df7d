import { type DataFrame, FieldType, toDataFrame } from '@grafana/data';

interface Request {
  refId?: string;
  labels?: Record<string, string>;
  /** Text of `le` and the counts over time, cumulative over the bounds. */
  buckets: Record<string, number[]>;
  /** Seconds since 1970; default: one per second from 1. */
  seconds?: number[];
  expression?: string;
}

/** Frames in the time series format, one per bucket, as Grafana's Prometheus data source makes them. */
export function bucketFrames({ refId = 'A', labels = {}, buckets, seconds, expression }: Request): DataFrame[] {
  return Object.entries(buckets).map(([le, values], i) =>
    toDataFrame({
      refId,
      meta: {
        type: 'timeseries-multi',
        ...(i === 0 && expression && { executedQueryString: `Expr: ${expression}\nStep: 1s` }),
      },
      fields: [
        {
          name: 'Time',
          type: FieldType.time,
          config: { interval: 1000 },
          values: (seconds ?? values.map((_, row) => row + 1)).map((second) => second * 1000),
        },
        { name: 'Value', type: FieldType.number, config: {}, labels: { ...labels, le }, values },
      ],
    })
  );
}
