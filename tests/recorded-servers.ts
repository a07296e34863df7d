/** A server of vLLM's metrics whose requests come once per second. */
export interface RecordedServer {
  readonly instance: string;
  readonly version: string;
  /** Than the usual time to first token and inter-token latency. */
  readonly slower: number;
  /** The Unix second from which on it is no longer slower; absent: it stays slower. */
  readonly slowerUntil?: number;
}

const SCRAPE_SECONDS = 15;
const OUTPUT_TOKENS = 50;
const PROMPT_TOKENS = 200;
const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** What a request at a Unix second takes to its first token: a level of the time of day, and what differs from one to the next. */
const ttftAt = (second: number): number =>
  0.2 * (1 + 0.3 * Math.sin((2 * Math.PI * second) / 86_400)) * (1 + 0.02 * Math.sin(second * 1.7));

/** The mean of the requests of a time, of a server that is not slower. */
export function meanTtft(from: number, to: number): number {
  let sum = 0;
  for (let second = from; second < to; second++) sum += ttftAt(second);
  return sum / (to - from);
}

/** What a Prometheus recorded of servers, as OpenMetrics with times; Unix times in seconds, multiples of a scrape. */
export function recordedServers(servers: readonly RecordedServer[], from: number, to: number): string {
  const families: [name: string, type: 'histogram' | 'counter' | 'gauge', values: (second: number) => number[]][] = [
    ['vllm:time_to_first_token_seconds', 'histogram', (second) => [ttftAt(second)]],
    [
      'vllm:inter_token_latency_seconds',
      'histogram',
      (second) => Array<number>(OUTPUT_TOKENS - 1).fill(ttftAt(second) / 10),
    ],
    ['vllm:request_prompt_tokens', 'histogram', () => [PROMPT_TOKENS]],
    ['vllm:request_generation_tokens', 'histogram', () => [OUTPUT_TOKENS]],
    ['vllm:request_success', 'counter', () => [1]],
    ['up', 'gauge', () => []],
  ];
  const lines = families.flatMap(([name, type, valuesAt]) => [
    `# TYPE ${name} ${type}`,
    ...servers.flatMap((server) => samplesOf(name, type, server, { from, to }, valuesAt)),
  ]);
  return `${lines.join('\n')}\n# EOF\n`;
}

function samplesOf(
  name: string,
  type: 'histogram' | 'counter' | 'gauge',
  { instance, version, slower, slowerUntil = Infinity }: RecordedServer,
  { from, to }: { readonly from: number; readonly to: number },
  valuesAt: (second: number) => number[],
): string[] {
  const target = `job="vllm",instance="${instance}",version="${version}"`;
  const own = type === 'gauge' ? target : `${target},model_name="m"`;
  const isTime = name.endsWith('_seconds');
  const bounds = isTime ? BOUNDS : [100, 500];
  const counts = bounds.map(() => 0);
  let [count, sum] = [0, 0];
  const samples: string[] = [];
  for (let second = from; second <= to; second++) {
    if ((second - from) % SCRAPE_SECONDS === 0) {
      const add = (suffix: string, labels: string, value: number): unknown =>
        samples.push(`${name}${suffix}{${labels}} ${value} ${second}`);
      if (type === 'gauge') add('', own, 1);
      else if (type === 'counter') add('_total', `${own},finished_reason="stop"`, count);
      else {
        for (const [i, bound] of bounds.entries()) add('_bucket', `${own},le="${bound.toFixed(3)}"`, counts[i] ?? 0);
        add('_bucket', `${own},le="+Inf"`, count);
        add('_sum', own, sum);
        add('_count', own, count);
      }
    }
    for (const value of valuesAt(second)) {
      const measured = isTime && second < slowerUntil ? slower * value : value;
      count += 1;
      sum += measured;
      for (const [i, bound] of bounds.entries()) if (measured <= bound) counts[i] = (counts[i] ?? 0) + 1;
    }
  }
  return samples;
}
