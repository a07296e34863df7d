import type { Histogram, Scalar, Summary } from './series.ts';

export type Labels = Readonly<Record<string, string>>;

interface Named {
  /** As on the TYPE line of the text format. */
  readonly name: string;
  readonly help: string;
}

interface Entry<S> {
  readonly labels: Labels;
  readonly series: S;
}

/** A metric family whose series are kept in the order in which they were first requested. */
export class Family<S extends Scalar | Summary | Histogram = Scalar | Summary | Histogram> {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'summary' | 'histogram';
  readonly #make: () => S;
  readonly #entries = new Map<string, Entry<S>>();

  constructor({ name, help }: Named, type: Family['type'], make: () => S) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.#make = make;
  }

  /** The series with these labels; made, at zero, when it is not there yet. */
  series(labels: Labels = {}): S {
    const key = JSON.stringify(Object.entries(labels).sort());
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { labels, series: this.#make() };
      this.#entries.set(key, entry);
    }
    return entry.series;
  }

  entries(): Iterable<Entry<S>> {
    return this.#entries.values();
  }
}
