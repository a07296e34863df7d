import { classicHistograms, parseText } from '../../../core/exposition/index.ts';
import type { ClassicHistogramSeries, Labels } from '../../../core/exposition/index.ts';

/** A page, to be requested single values. */
export interface SimulatedPage {
  /**
   * The value of the one series whose name and labels are these, other labels not looked at.
   *
   * @throws Error when there is none, or more than one
   */
  readonly value: (name: string, labels?: Labels) => number;
  /** The sum of all series with this name and these labels; 0 without any. */
  readonly sum: (name: string, labels?: Labels) => number;
  /** The one series of a histogram with these labels, others not looked at. */
  readonly histogram: (name: string, labels?: Labels) => ClassicHistogramSeries;
}

export function readPage(text: string): SimulatedPage {
  const page = parseText(new TextEncoder().encode(text));
  const samples = page.families.flatMap((family) => family.samples);
  const has = (own: Labels, labels: Labels): boolean =>
    Object.entries(labels).every(([label, value]) => own[label] === value);
  const matching = (name: string, labels: Labels): number[] =>
    samples.filter((sample) => sample.name === name && has(sample.labels, labels)).map(({ value }) => value);
  return {
    value(name, labels = {}) {
      const [value = NaN, ...more] = matching(name, labels);
      if (Number.isNaN(value) || more.length > 0)
        throw new Error(`not one series of ${name} ${JSON.stringify(labels)}`);
      return value;
    },
    sum(name, labels = {}) {
      return matching(name, labels).reduce((sum, value) => sum + value, 0);
    },
    histogram(name, labels = {}) {
      const family = page.family(name);
      const all = family === undefined ? [] : classicHistograms(page, family);
      const [series, ...more] = all.filter((candidate) => has(candidate.labels, labels));
      if (series === undefined || more.length > 0)
        throw new Error(`not one histogram ${name} ${JSON.stringify(labels)}`);
      return series;
    },
  };
}
