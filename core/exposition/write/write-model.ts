import type { MetricType } from '../exposition.ts';
import { quoteForMessage } from '../exposition-error.ts';
import { FAMILY_SUFFIXES } from '../family-suffixes.ts';
import { ExpositionWriteError } from './writer-input.ts';
import type { FamilyInput, SampleInput } from './writer-input.ts';

/** A family in the model of OpenMetrics: `_total` and `_info` are suffixes of samples, not part of the name. */
export interface ModelFamily {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly unit: string;
  readonly samples: readonly ModelSample[];
}

export interface ModelSample extends SampleInput {
  readonly suffix: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The label that holds a number. */
  readonly numeric: 'le' | 'quantile' | null;
}

const OWN_SUFFIX: Partial<Record<MetricType, string>> = { counter: '_total', info: '_info' };

/** Brings a family into the model and refuses what no format can say. */
export function modelFamily(family: FamilyInput): ModelFamily {
  const { type } = family;
  const own = OWN_SUFFIX[type];
  const name = own !== undefined && family.name.endsWith(own) ? family.name.slice(0, -own.length) : family.name;
  const samples = family.samples.map((sample) => modelSample(family, sample, own));
  return { name, type, help: family.help ?? '', unit: family.unit ?? '', samples };
}

function modelSample(family: FamilyInput, sample: SampleInput, own: string | undefined): ModelSample {
  const { type } = family;
  const suffix = (sample.suffix ?? '') === '' ? (own ?? '') : (sample.suffix ?? '');
  const labels = sample.labels ?? {};
  const refuse = (reason: string): never => {
    throw new ExpositionWriteError(`${type} ${quoteForMessage(family.name)}: ${reason}`);
  };
  if (!FAMILY_SUFFIXES[type].includes(suffix)) refuse(`a sample cannot have the suffix ${quoteForMessage(suffix)}`);
  const histogram = type === 'histogram' || type === 'gaugehistogram';
  if (histogram && Object.hasOwn(labels, 'le') !== (suffix === '_bucket'))
    refuse('the label "le" belongs to the buckets, and only to them');
  if (type === 'summary' && Object.hasOwn(labels, 'quantile') !== (suffix === ''))
    refuse('the label "quantile" belongs to the quantiles, and only to them');
  const time = sample.timestampSeconds ?? null;
  if (time !== null && !Number.isFinite(time)) refuse('a timestamp is not finite');
  const numeric = histogram && suffix === '_bucket' ? 'le' : type === 'summary' && suffix === '' ? 'quantile' : null;
  return { ...sample, suffix, labels, numeric };
}

/** Refuses a second sample of one series and time, and a second family of one name. */
export class UniqueNames {
  private readonly families = new Set<string>();
  private readonly series = new Set<string>();

  addFamily(name: string): void {
    if (this.families.has(name)) throw new ExpositionWriteError(`a second family ${quoteForMessage(name)}`);
    this.families.add(name);
  }

  addSeries(series: string, time: number | null): void {
    const key = `${series} ${time ?? ''}`;
    if (this.series.has(key)) throw new ExpositionWriteError(`a second sample of ${quoteForMessage(series)}`);
    this.series.add(key);
  }
}
