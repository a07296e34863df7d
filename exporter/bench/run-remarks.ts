import type { RequestRecord } from '../../core/run/record.ts';
import { comparedTokens } from '../../core/measures/request-figures.ts';
import { isUsageDiscrepant, USAGE_COMPLETION_DIFFERENCE } from '../../core/measures/usage-check.ts';
import type { RunObserver } from './observer.ts';

/** An achieved length further from the requested one is said. */
const LENGTH_TOLERANCE = 0.05;
/** Fewer chunks may well come together. */
const FEWEST_CHUNKS = 4;
/** No server generates tokens for one user at this pace: such chunks were held back and sent together. */
const HELD_BACK_GAP_NS = 100_000;
/** A share of answers below this is not worth a line. */
const SMALLEST_SHARE = 0.05;
/** More output tokens in a chunk than speculative decoding brings. */
const MANY_TOKENS_PER_CHUNK = 10;

/** What a person should know of the answers before believing the numbers: looks at each ok request of the measure phase. */
export class RunRemarks implements RunObserver {
  readonly #generates: boolean;
  #ok = 0;
  #byTokenizer = 0;
  #uncounted = 0;
  #requestedTokens = 0;
  #achievedTokens = 0;
  #streamed = 0;
  #heldBack = 0;
  #counted = 0;
  #countedTokens = 0;
  #countedChunks = 0;
  #fewerTokensThanChunks = 0;
  #compared = 0;
  #discrepant = 0;

  /** `generates`: whether answers have output tokens; embeddings have none. */
  constructor(generates = true) {
    this.#generates = generates;
  }

  requestEnded(record: RequestRecord): void {
    if (record.phase !== 'measure' || record.outcome !== 'ok') return;
    const { output_tokens: tokens, requested_output_tokens: requested, chunk_offsets_ns: offsets } = record;
    this.#ok++;
    const discrepant = isUsageDiscrepant(comparedTokens(record), [USAGE_COMPLETION_DIFFERENCE]);
    if (discrepant !== null) this.#compared++;
    if (discrepant === true) this.#discrepant++;
    if (tokens === null) this.#uncounted++;
    if (record.output_tokens_source === 'tokenizer') this.#byTokenizer++;
    if (tokens !== null && requested !== null) {
      this.#requestedTokens += requested;
      this.#achievedTokens += tokens;
    }
    if (offsets.length >= FEWEST_CHUNKS) {
      this.#streamed++;
      if (meanGap_ns(offsets) < HELD_BACK_GAP_NS) this.#heldBack++;
    }
    if (tokens !== null && offsets.length > 0 && record.output_tokens_source === 'usage') {
      this.#counted++;
      this.#countedTokens += tokens;
      this.#countedChunks += offsets.length;
      if (tokens < offsets.length) this.#fewerTokensThanChunks++;
    }
  }

  /** A line each; none when there is nothing to say. */
  lines(): readonly string[] {
    return [
      this.#source(),
      this.#outputLength(),
      this.#buffering(),
      this.#chunksWithoutTokens(),
      this.#manyTokens(),
      this.#discrepancies(),
    ].filter((line) => line !== null);
  }

  #source(): string | null {
    if (this.#byTokenizer > 0)
      return `token counts: the server told none for ${this.#byTokenizer} of ${this.#ok} answers; the tokenizer on this side counted them`;
    if (!this.#generates || this.#uncounted === 0) return null;
    return (
      `token counts: the server told none for ${this.#uncounted} of ${this.#ok} answers, which are in no measure of ` +
      'tokens; --tokenizer counts them here'
    );
  }

  #outputLength(): string | null {
    if (this.#requestedTokens === 0) return null;
    const ratio = this.#achievedTokens / this.#requestedTokens;
    const missed = Math.abs(this.#achievedTokens - this.#requestedTokens);
    if (missed <= LENGTH_TOLERANCE * this.#requestedTokens) return null;
    if (ratio > 1) {
      return (
        `output length: ${percent(ratio)} of the requested tokens came: the server does not keep to max_tokens, or the ` +
        'tokenizer is not that of the model (ignore_eos and min_tokens only make answers longer)'
      );
    }
    return (
      `output length: ${percent(ratio)} of the requested tokens came. Servers end an answer where the model does; for a ` +
      'fixed length say --extra-inputs ignore_eos:true (vLLM, SGLang, Dynamo) or --extra-inputs min_tokens:N'
    );
  }

  #buffering(): string | null {
    if (this.#heldBack <= SMALLEST_SHARE * this.#streamed) return null;
    return (
      `buffering: in ${this.#heldBack} of ${this.#streamed} answers all chunks came at once. A proxy or the server holds ` +
      'streams back, or this client was too busy to read: time to first token is then the time of the whole answer'
    );
  }

  #chunksWithoutTokens(): string | null {
    if (this.#fewerTokensThanChunks <= SMALLEST_SHARE * this.#counted) return null;
    return (
      `token counts: in ${this.#fewerTokensThanChunks} of ${this.#counted} answers the server's usage counts fewer tokens ` +
      'than chunks came. Throughput follows usage; check the server'
    );
  }

  #discrepancies(): string | null {
    if (this.#discrepant <= SMALLEST_SHARE * this.#compared) return null;
    return (
      `token counts: in ${this.#discrepant} of ${this.#compared} answers the server's usage is more than 10 % off what the ` +
      'tokenizer on this side counts: it is not that of the model, or the server counts otherwise'
    );
  }

  #manyTokens(): string | null {
    const perChunk = this.#countedTokens / this.#countedChunks;
    if (!(perChunk > MANY_TOKENS_PER_CHUNK)) return null;
    return (
      `token counts: usage counts ${perChunk.toFixed(1)} output tokens per chunk. The server streams in large steps, or its ` +
      'usage disagrees with the text; throughput follows usage, and inter-chunk latency is not that of tokens'
    );
  }
}

function meanGap_ns(offsets: readonly number[]): number {
  return ((offsets.at(-1) ?? NaN) - (offsets[0] ?? NaN)) / (offsets.length - 1);
}

const percent = (ratio: number): string => `${(ratio * 100).toFixed(0)} %`;
