import type { KeyNumbers, RunSummary } from '../../../core/api/runs.ts';
import { quantity } from '../../../core/text/quantities.ts';
import { t } from '../text.ts';

/** The latencies of requests that have values in a run whose responses are streams, and in one without. */
export type ShownLatency = 'time_to_first_token' | 'inter_token_latency' | 'request_latency';
const STREAMED: readonly ShownLatency[] = ['time_to_first_token', 'inter_token_latency'];
const WHOLE: readonly ShownLatency[] = ['request_latency'];

/** Endpoints that read texts and generate none. */
const OF_DOCUMENTS: ReadonlySet<string | null> = new Set(['embeddings', 'pooling', 'rerank', 'score']);

type Run = Pick<RunSummary, 'endpoint_type' | 'numbers'>;

/** Whether the requests of a run are texts to embed, rank or score. */
export const hasDocuments = ({ endpoint_type: type }: Pick<Run, 'endpoint_type'>): boolean => OF_DOCUMENTS.has(type);

/** The latencies to show of a run: by its results, or, until it has any, by its endpoint. */
export function latenciesOf(run: Run): readonly ShownLatency[] {
  const { time_to_first_token_seconds: first, request_latency_seconds: whole } = run.numbers ?? {};
  const isWhole = first?.p50 == null && (whole?.p50 != null || hasDocuments(run));
  return isWhole ? WHOLE : STREAMED;
}

/** Why a run has no time to first token; null for one that has. */
export function withoutStreamText(run: Run): string | null {
  if (latenciesOf(run) === STREAMED) {
    return null;
  }
  return hasDocuments(run)
    ? t(
        'latencies.documents',
        'The endpoint {{type}} generates no tokens: it has no time to first token and no inter-token latency.',
        { type: run.endpoint_type }
      )
    : t(
        'latencies.whole',
        'The responses were not streamed: there is no time to first token and no inter-token latency.'
      );
}

/** Output tokens, or documents, per second: what the endpoint of the run makes. */
export const throughputText = ({ output_token_throughput: tokens, document_throughput: documents }: KeyNumbers) =>
  documents == null ? quantity(tokens, 'tokens_per_second') : quantity(documents, 'documents_per_second');
