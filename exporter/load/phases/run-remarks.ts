import type { RequestRecord } from '../../../core/run/record.ts';
import { FASTEST_TOKEN_NS, meanGap_ns } from '../responses/request-record.ts';
import { comparedTokens, sentTokens } from '../../../core/measures/request-figures.ts';
import { isUsageDiscrepant, USAGE_COMPLETION_DIFFERENCE } from '../../../core/measures/usage-check.ts';
import type { Spread } from '../../../core/run/run-dataset.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';

/** A larger relative difference of achieved and requested length is reported. */
const LENGTH_TOLERANCE = 0.05;
/** A larger relative difference of the server's count of input tokens and the configured length is reported. */
const INPUT_TOLERANCE = 0.1;
/** Tokens of a chat template: short prompts differ by more than the tolerance without any mistake. */
const TEMPLATE_TOKENS = 16;
/** Of the mean of random lengths. */
const STANDARD_ERRORS = 3;
/** A smaller share of responses is not reported. */
const MIN_SHARE = 0.05;
/** More output tokens per chunk than speculative decoding yields. */
const MANY_TOKENS_PER_CHUNK = 10;

/** What prompts were to be. */
export interface PlannedPrompt {
  readonly tokens: Spread;
  /** Whether a tokenizer made the length exact. */
  readonly hasTokenizer: boolean;
}

/**
 * What a user must know about the responses to interpret the figures: observes each ok request of the measure phase.
 */
export class RunRemarks implements RunEvents {
  readonly #generates: boolean;
  readonly #prompt: PlannedPrompt | null;
  #ok = 0;
  #reportedInputs = 0;
  #inputTokens = 0;
  #byTokenizer = 0;
  #uncounted = 0;
  #requestedTokens = 0;
  #achievedTokens = 0;
  #streamed = 0;
  #heldBack = 0;
  #countedTokens = 0;
  #countedChunks = 0;
  #compared = 0;
  #discrepant = 0;

  /** `generates`: whether responses have output tokens; embeddings have none. `prompt`: null if its length is unknown. */
  constructor(generates = true, prompt: PlannedPrompt | null = null) {
    this.#generates = generates;
    this.#prompt = prompt;
  }

  requestEnded(record: RequestRecord): void {
    if (record.phase !== 'measure' || record.outcome !== 'ok') return;
    const { output_tokens: tokens, requested_output_tokens: requested, chunk_offsets_ns: offsets } = record;
    this.#ok++;
    if (record.input_tokens !== null && record.input_tokens_source === 'usage') {
      this.#reportedInputs++;
      this.#inputTokens += record.input_tokens;
    }
    const discrepant = isUsageDiscrepant(comparedTokens(record), [USAGE_COMPLETION_DIFFERENCE]);
    if (discrepant !== null) this.#compared++;
    if (discrepant === true) this.#discrepant++;
    if (tokens === null) this.#uncounted++;
    if (record.output_tokens_source === 'tokenizer') this.#byTokenizer++;
    if (tokens !== null && requested !== null) {
      this.#requestedTokens += requested;
      this.#achievedTokens += tokens;
    }
    const gap_ns = meanGap_ns(offsets);
    if (gap_ns !== null) {
      this.#streamed++;
      if (gap_ns < FASTEST_TOKEN_NS) this.#heldBack++;
    }
    if (tokens !== null && offsets.length > 0 && record.output_tokens_source === 'usage') {
      this.#countedTokens += sentTokens(record) ?? 0;
      this.#countedChunks += offsets.length;
    }
  }

  /** One line per remark; empty when there is none. `impossible`: responses whose count by the server cannot be true. */
  lines(impossible = 0): readonly string[] {
    return [
      this.#source(impossible),
      this.#inputLength(),
      this.#outputLength(),
      this.#buffering(),
      this.#manyTokens(),
      this.#discrepancies(),
    ].filter((line) => line !== null);
  }

  #source(impossible: number): string | null {
    const counted = this.#byTokenizer - impossible;
    if (counted > 0)
      return `token counts: the server reported none for ${counted} of ${this.#ok} responses; the tokenizer of the client counted them`;
    const uncounted = this.#uncounted - impossible;
    if (!this.#generates || uncounted <= 0) return null;
    return (
      `token counts: the server reported none for ${uncounted} of ${this.#ok} responses, which no measure of ` +
      'tokens includes; --tokenizer counts them on the client'
    );
  }

  #inputLength(): string | null {
    if (this.#prompt === null || this.#reportedInputs === 0) return null;
    const { tokens, hasTokenizer } = this.#prompt;
    const reported = this.#inputTokens / this.#reportedInputs;
    const chance = (STANDARD_ERRORS * tokens.stddev) / Math.sqrt(this.#reportedInputs);
    if (Math.abs(reported - tokens.mean) <= Math.max(INPUT_TOLERANCE * tokens.mean, TEMPLATE_TOKENS) + chance)
      return null;
    const why = hasTokenizer
      ? 'The tokenizer is not that of the model, or the chat template adds many'
      : reported < tokens.mean
        ? 'A word is at least one token: the server truncates prompts, or its count is wrong'
        : 'Without --tokenizer each word counts as one token; --tokenizer with that of the model makes lengths exact';
    return (
      `input length: the server counted ${reported.toFixed(0)} tokens per request instead of ${tokens.mean} ` +
      `(${percent(reported / tokens.mean)}). ${why}`
    );
  }

  #outputLength(): string | null {
    if (this.#requestedTokens === 0) return null;
    const ratio = this.#achievedTokens / this.#requestedTokens;
    const missed = Math.abs(this.#achievedTokens - this.#requestedTokens);
    if (missed <= LENGTH_TOLERANCE * this.#requestedTokens) return null;
    if (ratio > 1) {
      return (
        `output length: ${percent(ratio)} of the requested tokens. The server ignores max_tokens, or the ` +
        'tokenizer is not that of the model (ignore_eos and min_tokens only make responses longer)'
      );
    }
    return (
      `output length: ${percent(ratio)} of the requested tokens. A response ends where the model ends it; for a ` +
      'fixed length use --ignore-eos (vLLM, SGLang, Dynamo) or --extra-inputs min_tokens:N'
    );
  }

  #buffering(): string | null {
    if (this.#heldBack <= MIN_SHARE * this.#streamed) return null;
    return (
      `buffering: in ${this.#heldBack} of ${this.#streamed} responses all chunks arrived at once. A proxy or the server buffers ` +
      'streams, or the client was too busy to read: time to first token is then the time of the whole response'
    );
  }

  #discrepancies(): string | null {
    if (this.#discrepant <= MIN_SHARE * this.#compared) return null;
    return (
      `token counts: in ${this.#discrepant} of ${this.#compared} responses the server's usage differs by more than 10 % from the ` +
      'tokenizer of the client: it is not that of the model, or the server counts differently'
    );
  }

  #manyTokens(): string | null {
    const perChunk = this.#countedTokens / this.#countedChunks;
    if (!(perChunk > MANY_TOKENS_PER_CHUNK)) return null;
    return (
      `token counts: usage counts ${perChunk.toFixed(1)} output tokens per chunk. The server streams in large steps, or its ` +
      'usage does not match the text; throughput uses usage, and inter-chunk latency is not per token'
    );
  }
}

const percent = (ratio: number): string => `${(ratio * 100).toFixed(0)} %`;
