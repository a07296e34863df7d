import { writeFileSync } from 'node:fs';
import { until } from './processes.ts';

const JOB = 'stopped';
const CLASSIC_COUNT = 'sum(vllm:time_to_first_token_seconds_count{job="stopped"})';
const NATIVE_COUNT = 'sum(histogram_count(vllm:time_to_first_token_seconds{job="stopped"}))';
const REQUESTS = 40;

/** The scrape configuration of a server that is stopped later on, whose targets are in `file`. */
export function stoppedScrapeConfig(file: string): object {
  return { job_name: JOB, file_sd_configs: [{ files: [file], refresh_interval: '1s' }] };
}

/**
 * Sends requests to a server that two Prometheus scrape, of which one stores native histograms, and takes it out of the
 * scrape configuration when their counts are there. Resolves to the server as job/instance.
 */
export async function serveAndStop(
  file: string,
  server: string,
  prometheus: { classic: string; native: string }
): Promise<string> {
  const { host } = new URL(server);
  writeFileSync(file, JSON.stringify([{ targets: [host] }]));
  const body = { model: 'sim-model', stream: true, max_tokens: 4, messages: [{ role: 'user', content: 'hello' }] };
  for (let i = 0; i < REQUESTS; i++) {
    const response = await fetch(new URL('/v1/chat/completions', server), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.text();
  }
  await until(async () => (await counts(prometheus)).every((count) => count === REQUESTS));
  writeFileSync(file, '[]');
  await until(async () => (await counts(prometheus)).every((count) => count === null));
  return `${JOB}/${host}`;
}

function counts({ classic, native }: { classic: string; native: string }): Promise<Array<number | null>> {
  return Promise.all([count(classic, CLASSIC_COUNT), count(native, NATIVE_COUNT)]);
}

/** The observations of the server as a Prometheus has them now; null: it is not scraped. */
async function count(prometheus: string, query: string): Promise<number | null> {
  const response = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query })}`);
  const { data } = (await response.json()) as { data: { result: Array<{ value: [number, string] }> } };
  return data.result[0] === undefined ? null : Number(data.result[0].value[1]);
}
