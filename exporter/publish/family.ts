import { Registry } from 'prom-client';
import type { Metric, OpenMetricsContentType, PrometheusContentType } from 'prom-client';

/** One line of an exposition. */
export interface Sample {
  /** The name when it is not the family's own: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Labels that many samples have in common: prom-client writes their text once for each object. */
  readonly sharedLabels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric family whose samples are read when somebody scrapes. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  samples(): readonly Sample[];
}

export type ExpositionFormat = 'text' | 'openmetrics';

export const CONTENT_TYPES = {
  text: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
} as const satisfies Record<ExpositionFormat, PrometheusContentType | OpenMetricsContentType>;

/**
 * A prom-client registry of its own that holds these families, in their order. Each format needs another registry, since
 * prom-client renames a counter for good when it writes OpenMetrics.
 */
export function registryOf(
  families: readonly Family[],
  format: ExpositionFormat,
): Registry<PrometheusContentType | OpenMetricsContentType> {
  const registry = new Registry<PrometheusContentType | OpenMetricsContentType>();
  registry.setContentType(CONTENT_TYPES[format]);
  for (const family of families) registry.registerMetric(asMetric(family));
  return registry;
}

/** What prom-client's registry asks of a metric at render is a name and `get()`; its types name only its own classes. */
function asMetric(family: Family): Metric {
  const metric = {
    name: family.name,
    get() {
      return Promise.resolve({ name: this.name, help: family.help, type: family.type, values: family.samples() });
    },
    type: family.type,
  };
  return metric as unknown as Metric;
}
