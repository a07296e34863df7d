import { quoteForMessage } from '../exposition-error.ts';
import { formatNumber } from './format-number.ts';
import { escapeQuoted } from '../label-text.ts';
import { UniqueNames, modelFamily } from './write-model.ts';
import { labelPairs, metricNameText, seriesOf } from './write-series.ts';
import { ExpositionWriteError } from './writer-input.ts';
import type { ExemplarInput, FamilyInput, WriteOptions } from './writer-input.ts';

/**
 * Writes a page of OpenMetrics 1.0, `# EOF` included. A counter `x_total` is the family `x`. The order of families and
 * samples is the caller's: those of one label set belong together, buckets ascend. Throws ExpositionWriteError.
 */
export function writeOpenMetrics(families: readonly FamilyInput[], options?: WriteOptions): string {
  const unique = new UniqueNames();
  let page = '';
  for (const input of families) {
    const family = modelFamily(input);
    unique.addFamily(family.name);
    const name = metricNameText(family.name, options);
    page += `# TYPE ${name} ${family.type}\n`;
    if (family.unit !== '') {
      if (!family.name.endsWith(`_${family.unit}`))
        throw new ExpositionWriteError(`the unit ${quoteForMessage(family.unit)} is not the end of the name ${name}`);
      page += `# UNIT ${name} ${family.unit}\n`;
    }
    if (family.help !== '') page += `# HELP ${name} ${escapeQuoted(family.help.toWellFormed())}\n`;
    for (const sample of family.samples) {
      const series = seriesOf(family.name + sample.suffix, sample.labels, sample.numeric, options);
      const time = sample.timestampSeconds ?? null;
      unique.addSeries(series, time);
      page += `${series} ${formatNumber(sample.value)}${time === null ? '' : ` ${formatNumber(time)}`}`;
      if (sample.exemplar !== undefined && sample.exemplar !== null) page += exemplarText(sample.exemplar, options);
      page += '\n';
    }
  }
  return `${page}# EOF\n`;
}

function exemplarText(exemplar: ExemplarInput, options: WriteOptions | undefined): string {
  const labels = labelPairs(exemplar.labels, null, options).join(',');
  const time = exemplar.timestampSeconds ?? null;
  return ` # {${labels}} ${formatNumber(exemplar.value)}${time === null ? '' : ` ${formatNumber(time)}`}`;
}
