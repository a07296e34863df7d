import type { PhaseName, RequestRecord } from '../../../core/run/record.ts';
import type { RunEvents } from '../../../core/run/run-output.ts';
import type { RunFile } from '../../../core/run/run.ts';
import { ownValue } from '../../../core/text/nearest-names.ts';
import { LiveHistogram } from '../latency-histograms.ts';

/** A histogram with its unit in UCUM, as OpenTelemetry names units. */
export interface GenAiHistogram {
  readonly unit: 's' | '{token}';
  readonly histogram: LiveHistogram;
}

/** The bounds that the conventions advise for every duration of a client, seconds. */
const SECONDS_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKEN_BOUNDS = Array.from({ length: 14 }, (_, i) => 4 ** i);

/** Names of operations by our endpoint types; others keep the name of the endpoint type, as the conventions allow. */
const OPERATIONS: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
};

/** Whose API it is: what the conventions call the provider, whatever serves it. */
const PROVIDERS: Readonly<Record<string, string>> = {
  ...{ chat: 'openai', responses: 'openai', completions: 'openai', embeddings: 'openai' },
  messages: 'anthropic',
};

/**
 * The client metrics of OpenTelemetry's semantic conventions for generative AI (status: development), over the measure
 * phase. https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-metrics.md.
 */
export class GenAiHistograms implements RunEvents {
  readonly #attributes: Readonly<Record<string, string>>;
  readonly #firstChunk: LiveHistogram;
  readonly #outputChunk: LiveHistogram;
  readonly #tokens: Readonly<Record<'input' | 'output', LiveHistogram>>;
  /** By `error.type`; '' for requests that ended ok. */
  readonly #durations = new Map<string, LiveHistogram>();

  constructor(run: RunFile) {
    this.#attributes = attributesOf(run);
    this.#firstChunk = new LiveHistogram(
      'gen_ai.client.operation.time_to_first_chunk',
      'Time from sending a request to its first chunk with content.',
      this.#attributes,
      SECONDS_BOUNDS,
    );
    this.#outputChunk = new LiveHistogram(
      'gen_ai.client.operation.time_per_output_chunk',
      'Time between consecutive chunks with content.',
      this.#attributes,
      SECONDS_BOUNDS,
    );
    const tokens = (type: string): LiveHistogram => {
      const attributes = { ...this.#attributes, 'gen_ai.token.type': type };
      return new LiveHistogram('gen_ai.client.token.usage', 'Tokens of a request by usage.', attributes, TOKEN_BOUNDS);
    };
    this.#tokens = { input: tokens('input'), output: tokens('output') };
    this.#durationOf('');
  }

  get all(): readonly GenAiHistogram[] {
    const times = [...this.#durations.values(), this.#firstChunk, this.#outputChunk];
    return [
      ...times.map((histogram): GenAiHistogram => ({ unit: 's', histogram })),
      ...Object.values(this.#tokens).map((histogram): GenAiHistogram => ({ unit: '{token}', histogram })),
    ];
  }

  firstContent(phase: PhaseName, sinceSent_ns: number): void {
    if (phase === 'measure') this.#firstChunk.observe(sinceSent_ns / 1e9);
  }

  chunkGap(phase: PhaseName, gap_ns: number): void {
    if (phase === 'measure') this.#outputChunk.observe(gap_ns / 1e9);
  }

  requestEnded(record: RequestRecord): void {
    if (record.phase !== 'measure' || record.outcome === 'cancelled') return;
    this.#durationOf(record.reason ?? '').observe((record.end_ns - record.sent_ns) / 1e9);
    if (record.input_tokens !== null) this.#tokens.input.observe(record.input_tokens);
    if (record.output_tokens !== null) this.#tokens.output.observe(record.output_tokens);
  }

  #durationOf(errorType: string): LiveHistogram {
    const known = this.#durations.get(errorType);
    if (known !== undefined) return known;
    const attributes = errorType === '' ? this.#attributes : { ...this.#attributes, 'error.type': errorType };
    const name = 'gen_ai.client.operation.duration';
    const made = new LiveHistogram(
      name,
      'Time from sending a request to the end of its response.',
      attributes,
      SECONDS_BOUNDS,
    );
    this.#durations.set(errorType, made);
    return made;
  }
}

function attributesOf({ comparison_key: { endpoint_type, model }, target }: RunFile): Readonly<Record<string, string>> {
  const type = endpoint_type ?? 'unknown';
  const url = target.origin === null ? null : URL.parse(target.origin);
  return {
    'gen_ai.operation.name': ownValue(OPERATIONS, type) ?? type,
    'gen_ai.provider.name': ownValue(PROVIDERS, type) ?? target.system ?? 'unknown',
    ...(model === null ? {} : { 'gen_ai.request.model': model }),
    ...(url === null
      ? {}
      : { 'server.address': url.hostname, 'server.port': url.port || (url.protocol === 'https:' ? '443' : '80') }),
  };
}
