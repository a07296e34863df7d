import type { MetricType } from '../exposition.ts';
import { formatNumber } from './format-number.ts';
import { UniqueNames, modelFamily } from './write-model.ts';
import type { ModelFamily, ModelSample } from './write-model.ts';
import { metricNameText, seriesOf } from './write-series.ts';
import type { FamilyInput, WriteOptions } from './writer-input.ts';

/** What a part of a family is in a format that has only counter, gauge, histogram, summary and untyped. */
interface TextPart {
  readonly name: string;
  readonly type: string;
  readonly samples: readonly ModelSample[];
}

/**
 * Writes a page of the text format 0.0.4. A counter `x` is written as `x_total`; what the format does not know is
 * written as Prometheus' client libraries do: info and stateset as gauges, `_created`, `_gcount` and `_gsum` as gauge
 * families of their own. Units and exemplars are left out. Throws ExpositionWriteError.
 */
export function writeText(families: readonly FamilyInput[], options?: WriteOptions): string {
  const unique = new UniqueNames();
  let page = '';
  for (const input of families) {
    const family = modelFamily(input);
    for (const part of textParts(family)) {
      unique.addFamily(part.name);
      const name = metricNameText(part.name, options);
      if (family.help !== '') page += `# HELP ${name} ${escapeHelp(family.help)}\n`;
      page += `# TYPE ${name} ${part.type}\n`;
      for (const sample of part.samples) {
        const series = seriesOf(family.name + sample.suffix, sample.labels, sample.numeric, options);
        const time = sample.timestampSeconds ?? null;
        unique.addSeries(series, time);
        page += `${series} ${formatNumber(sample.value)}${time === null ? '' : ` ${milliseconds(time)}`}\n`;
      }
    }
  }
  return page;
}

const TEXT_TYPES: Readonly<Record<MetricType, string>> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
  gaugehistogram: 'histogram',
  summary: 'summary',
  info: 'gauge',
  stateset: 'gauge',
  unknown: 'untyped',
};
const OWN_FAMILIES = ['_created', '_gcount', '_gsum'];

function textParts({ name, type, samples }: ModelFamily): TextPart[] {
  const ownName = type === 'counter' ? `${name}_total` : type === 'info' ? `${name}_info` : name;
  const parts: TextPart[] = [
    { name: ownName, type: TEXT_TYPES[type], samples: samples.filter(({ suffix }) => !OWN_FAMILIES.includes(suffix)) },
  ];
  for (const suffix of OWN_FAMILIES) {
    const own = samples.filter((sample) => sample.suffix === suffix);
    if (own.length > 0) parts.push({ name: name + suffix, type: 'gauge', samples: own });
  }
  return parts;
}

function milliseconds(seconds: number): string {
  return BigInt(Math.round(seconds * 1000)).toString();
}

function escapeHelp(help: string): string {
  return help.toWellFormed().replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
