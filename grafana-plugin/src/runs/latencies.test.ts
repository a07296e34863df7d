import { runSummary } from '../../../core/api/testing/run-summary.ts';
import { latenciesOf, throughputText, withoutStreamText } from './latencies.ts';

const distribution = (p50: number | null) => ({
  definition: '',
  n: p50 === null ? 0 : 9,
  mean: p50,
  p50,
  p90: p50,
  p99: p50,
});
const whole = {
  ...runSummary().numbers!,
  time_to_first_token_seconds: distribution(null),
  request_latency_seconds: distribution(0.4),
};

test('the latencies of a run are those that its responses have, and why there are no others', () => {
  expect(latenciesOf(runSummary())).toEqual(['time_to_first_token', 'inter_token_latency']);
  expect(withoutStreamText(runSummary())).toBeNull();

  const notStreamed = runSummary({ numbers: whole });
  expect(latenciesOf(notStreamed)).toEqual(['request_latency']);
  expect(withoutStreamText(notStreamed)).toMatch(/not streamed/);

  const rerank = runSummary({ endpoint_type: 'rerank', numbers: null });
  expect(latenciesOf(rerank)).toEqual(['request_latency']);
  expect(withoutStreamText(rerank)).toMatch(/^The endpoint rerank generates no tokens/);
});

test('of a run without an ok request its endpoint decides', () => {
  const numbers = { ...whole, request_latency_seconds: distribution(null) };
  expect(latenciesOf(runSummary({ numbers }))).toHaveLength(2);
  expect(latenciesOf(runSummary({ endpoint_type: 'score', numbers }))).toHaveLength(1);
});

test('the throughput is of what the endpoint makes', () => {
  expect(throughputText(whole)).toBe('288 tokens/s');
  expect(throughputText({ ...whole, document_throughput: 12 })).toBe('12 documents/s');
});
