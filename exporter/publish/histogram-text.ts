import { seriesStart, valueText } from '../../core/exposition/index.ts';
import type { FamilyInput } from '../../core/exposition/index.ts';
import type { KeptFamily } from './metrics-page.ts';

/**
 * Writes one histogram again and again: its series and their order never change, so that names and labels, most of the
 * work, are written only once.
 */
export class HistogramText {
  #starts: readonly string[] | null = null;

  /** Throws an `ExpositionWriteError` when the family cannot be written. */
  write({ name, help, type, samples }: FamilyInput): KeptFamily {
    this.#starts ??= samples.map(
      ({ metricName = name, labels, sharedLabels }) => `${seriesStart(metricName, { ...sharedLabels, ...labels })} `,
    );
    let lines = '';
    for (const [i, { value }] of samples.entries()) lines += `${this.#starts[i] ?? ''}${valueText(value)}\n`;
    return { name, help, type, lines: Buffer.from(lines), series: samples.length };
  }
}
