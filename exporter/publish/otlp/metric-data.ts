import type { Attributes, HrTime } from '@opentelemetry/api';
import type * as Sdk from '@opentelemetry/sdk-metrics';
import type { FamilyInput, SampleInput } from '../../../core/exposition/index.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';

/** What of the SDK is used as values: it is loaded only when a run is exported. */
export type SdkValues = Pick<typeof Sdk, 'AggregationTemporality' | 'DataPointType'>;

/** Milliseconds since 1970. */
export interface PointTimes {
  /** Since when it is counted. */
  readonly start_ms: number;
  readonly at_ms: number;
}

/** A family with its unit in UCUM; '' if the name states none. */
export type ExportedFamily = FamilyInput & { readonly unit?: string };

const UNITS: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By', tokens: '{token}', ratio: '1' };

/**
 * Families as OpenTelemetry's data model has them: counters are cumulative sums, classic histograms have explicit bounds.
 * Names and labels stay as they are, so that a receiver that translates to Prometheus gives them back.
 */
export function metricDataOf(family: ExportedFamily, times: PointTimes, sdk: SdkValues): Sdk.MetricData {
  const { name, help, type, samples } = family;
  const base = {
    descriptor: { name, description: help ?? '', unit: family.unit ?? unitOf(name), valueType: 1 },
    aggregationTemporality: sdk.AggregationTemporality.CUMULATIVE,
  };
  const point = <T>(attributes: Attributes, value: T): Sdk.DataPoint<T> => ({
    ...{ startTime: hrTime(times.start_ms), endTime: hrTime(times.at_ms), attributes, value },
  });
  if (type === 'histogram') {
    const dataPoints = histogramsOf(samples).map(({ attributes, value }) => point(attributes, value));
    return { ...base, dataPointType: sdk.DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = samples.map((sample) => point(labelsOf(sample), sample.value));
  return type === 'counter'
    ? { ...base, dataPointType: sdk.DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: sdk.DataPointType.GAUGE, dataPoints };
}

function labelsOf({ labels, sharedLabels }: SampleInput): Attributes {
  const { 'server.port': port, ...rest } = { ...sharedLabels, ...labels };
  // The conventions have it as an integer.
  return port === undefined ? rest : { ...rest, 'server.port': Number(port) };
}

interface HistogramValue {
  readonly attributes: Attributes;
  readonly value: Sdk.Histogram;
}

/** The samples of each histogram follow each other: its buckets in ascending order, then its sum and count. */
function histogramsOf(samples: readonly SampleInput[]): HistogramValue[] {
  const found: HistogramValue[] = [];
  let [bounds, cumulative]: [number[], number[]] = [[], []];
  let sum: number | null = null;
  for (const sample of samples) {
    const { le, ...attributes } = labelsOf(sample);
    if (typeof le === 'string') {
      cumulative.push(sample.value);
      if (le !== '+Inf') bounds.push(Number(le));
    } else if (sample.metricName?.endsWith('_sum') === true) {
      sum = sample.value;
    } else {
      const counts = cumulative.map((count, i) => count - (cumulative[i - 1] ?? 0));
      const value = { buckets: { boundaries: bounds, counts }, count: sample.value, ...(sum !== null && { sum }) };
      found.push({ attributes, value });
      [bounds, cumulative, sum] = [[], [], null];
    }
  }
  return found;
}

function unitOf(name: string): string {
  const word =
    name
      .replace(/_total$/, '')
      .split('_')
      .at(-1) ?? '';
  return ownValue(UNITS, word) ?? '';
}

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
