import { planRate, planSeconds, type RecordedLoad, type TokenCounts } from '../run/recorded-load.ts';
import type { RequestRecord } from '../run/record.ts';
import type { LoadFit } from '../run/result.ts';
import { quotient } from './scalar-measures.ts';

/**
 * How well the requests of a run fit the load that its plan reproduces, from the records as they come, in any order. Of a
 * request the time is kept.
 */
export class LoadFitTally {
  readonly #source: RecordedLoad;
  readonly #sent_ns: number[] = [];
  readonly #input: LengthTally;
  readonly #output: LengthTally;
  #cached = 0;
  #prompt = 0;
  /** The first request of a plan is due at its start. */
  #start_ns = Infinity;

  constructor(source: RecordedLoad) {
    this.#source = source;
    this.#input = new LengthTally(source.input_tokens);
    this.#output = new LengthTally(source.output_tokens);
  }

  add({ phase, due_ns, sent_ns, input_tokens, output_tokens, cached_tokens }: RequestRecord): void {
    if (phase !== 'measure') return;
    this.#start_ns = Math.min(this.#start_ns, due_ns ?? sent_ns);
    this.#sent_ns.push(sent_ns);
    this.#input.add(input_tokens);
    this.#output.add(output_tokens);
    if (cached_tokens === null || input_tokens === null) return;
    this.#cached += cached_tokens;
    this.#prompt += input_tokens;
  }

  result(): readonly LoadFit[] {
    const { requests, input_tokens, output_tokens, cached_input_ratio } = this.#source;
    const cached = this.#prompt > 0 ? this.#cached / this.#prompt : null;
    const away = cached === null || cached_input_ratio === null ? null : Math.abs(cached - cached_input_ratio);
    return [
      {
        quantity: 'request_rate',
        unit: 'requests_per_second',
        source: planRate(this.#source),
        achieved: quotient(this.#sent_ns.length, this.#seconds()),
        distance: distance([...requests, 0], this.#slots()),
      },
      { quantity: 'input_tokens', unit: 'tokens', ...this.#input.fit(input_tokens) },
      { quantity: 'output_tokens', unit: 'tokens', ...this.#output.fit(output_tokens) },
      { quantity: 'cached_input_ratio', unit: 'ratio', source: cached_input_ratio, achieved: cached, distance: away },
    ];
  }

  /** How long the requests of the plan took: its own time or more, and until the last one where some were not sent. */
  #seconds(): number {
    const elapsed = this.#afterStart().reduce((last, seconds) => Math.max(last, seconds), 0);
    const [planned, rate] = [planSeconds(this.#source), planRate(this.#source)];
    return this.#sent_ns.length < Math.round(rate * planned) ? elapsed : Math.max(planned, elapsed);
  }

  /** Requests in each slot of the plan, and at last after its end. */
  #slots(): readonly number[] {
    const { requests, slot_seconds, compress } = this.#source;
    const slots = [...requests, 0].map(() => 0);
    for (const seconds of this.#afterStart()) {
      const slot = Math.min(requests.length, Math.floor((seconds * compress) / slot_seconds));
      slots[slot] = (slots[slot] ?? 0) + 1;
    }
    return slots;
  }

  #afterStart(): readonly number[] {
    return this.#sent_ns.map((sent_ns) => (sent_ns - this.#start_ns) * 1e-9);
  }
}

class LengthTally {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #known = 0;

  constructor(source: TokenCounts | null) {
    this.#bounds = source?.bounds ?? [];
    this.#counts = [...this.#bounds, Infinity].map(() => 0);
  }

  add(tokens: number | null): void {
    if (tokens === null) return;
    const bucket = this.#bounds.findIndex((bound) => tokens <= bound);
    const place = bucket < 0 ? this.#bounds.length : bucket;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#sum += tokens;
    this.#known += 1;
  }

  fit(source: TokenCounts | null): Pick<LoadFit, 'source' | 'achieved' | 'distance'> {
    const achieved = quotient(this.#sum, this.#known);
    if (source === null) return { source: null, achieved, distance: null };
    return { source: source.mean, achieved, distance: distance(source.counts, this.#counts) };
  }
}

/**
 * The largest difference between the cumulative shares of two counts over the same buckets, 0 to 1: that of Kolmogorov and
 * Smirnov as far as the buckets show it. Null where one has nothing.
 */
function distance(a: readonly number[], b: readonly number[]): number | null {
  const total = (counts: readonly number[]): number => counts.reduce((sum, n) => sum + n, 0);
  const [ofA, ofB] = [total(a), total(b)];
  if (ofA === 0 || ofB === 0) return null;
  let [sumA, sumB, largest] = [0, 0, 0];
  for (const [i, count] of a.entries()) {
    sumA += count;
    sumB += b[i] ?? 0;
    largest = Math.max(largest, Math.abs(sumA / ofA - sumB / ofB));
  }
  return largest;
}
