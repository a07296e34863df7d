import type { FamilyInput } from '../../../core/exposition/index.ts';
import type { PointMessage, SeriesLayout } from './pushed-series.ts';
import { layoutOf, valuesOf } from './series-layout.ts';

/** What a writer of states needs of a queue. */
export interface StateSink {
  declare(number: number, layout: SeriesLayout): void;
  append(layout: number, point: PointMessage): void;
}

/**
 * Writes gauges that hold between two writes. A receiver shows a series for five minutes after its newest sample, so a
 * state that is to hold is written again and again; a series that is no longer part of it is ended.
 */
export class StateWriter {
  readonly #sink: StateSink;
  readonly #extraLabels: Readonly<Record<string, string>>;
  #layouts = 0;
  #current: { readonly number: number; readonly text: string } | null = null;
  #last_ms = 0;

  constructor(sink: StateSink, extraLabels: Readonly<Record<string, string>>) {
    this.#sink = sink;
    this.#extraLabels = extraLabels;
  }

  /** Writes the state at this time, milliseconds since the epoch; a clock that was set back does not go back here. */
  write(families: readonly FamilyInput[], time_ms: number): void {
    const layout = layoutOf(families, this.#extraLabels, null);
    const text = JSON.stringify(layout);
    const at = this.#after(time_ms);
    if (text !== this.#current?.text) {
      this.#end(at - 1);
      this.#layouts += 1;
      this.#current = layout.series.length === 0 ? null : { number: this.#layouts, text };
      if (this.#current !== null) this.#sink.declare(this.#layouts, layout);
    }
    if (this.#current === null) return;
    this.#sink.append(this.#current.number, { time_ms: at, values: valuesOf(families), native: [] });
  }

  /** Ends every series: what they said is not known any more. */
  end(time_ms: number): void {
    this.#end(this.#after(time_ms));
    this.#current = null;
  }

  #end(time_ms: number): void {
    if (this.#current === null) return;
    this.#sink.append(this.#current.number, { time_ms, values: null, native: null });
  }

  /** Two milliseconds, so that the end of a series fits before its next sample. */
  #after(time_ms: number): number {
    this.#last_ms = Math.max(this.#last_ms + 2, Math.round(time_ms));
    return this.#last_ms;
  }
}
