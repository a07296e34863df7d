import { classicHistograms, parseText } from '../../core/exposition/index.ts';
import type { HistogramSeries, Labels } from '../../core/exposition/index.ts';

/** A vLLM page of one engine, to be asked for single values. */
export interface VllmPage {
  /**
   * The value of the one series whose name and labels are these, other labels not looked at.
   *
   * @throws Error when there is none, or more than one
   */
  value(name: string, labels?: Labels): number;
  /** The one series of a histogram. */
  histogram(name: string): HistogramSeries;
}

export function readVllmPage(text: string): VllmPage {
  const page = parseText(new TextEncoder().encode(text));
  const samples = page.families.flatMap((family) => family.samples);
  return {
    value(name, labels = {}) {
      const matches = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      if (matches.length !== 1) throw new Error(`${matches.length} series of ${name} ${JSON.stringify(labels)}`);
      return matches[0]?.value ?? NaN;
    },
    histogram(name) {
      const family = page.family(name);
      const [series, ...more] = family === undefined ? [] : classicHistograms(page, family);
      if (series === undefined || more.length > 0) throw new Error(`not one histogram ${name}`);
      return series;
    },
  };
}
