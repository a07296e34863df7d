import { fileURLToPath } from 'node:url';
import type { Programs } from './programs.ts';

const RULES = fileURLToPath(new URL('../../../prometheus/native/rules/*.yml', import.meta.url));
const REQUESTS = 200;

/** The histogram under which the exponential one is stored. */
const EXPONENTIAL = 'vllm:request_prefill_time_seconds';
const EXPONENTIAL_JOB = 'exponential';

export interface NativePrometheus {
  url: string;
  /** Job and instance of the server with an exponential histogram. */
  exponentialServer: string;
}

/**
 * A Prometheus that stores only native histograms: it converts what the jobs scrape. Beside it, a histogram with
 * exponential buckets, its own of the requests that it answers, under the name of one of vLLM's.
 */
export async function startNativePrometheus(
  programs: Programs,
  prometheus: string,
  jobs: readonly object[]
): Promise<NativePrometheus> {
  const config = (address: string) => ({
    global: { scrape_interval: '1s', evaluation_interval: '5s', convert_classic_histograms_to_nhcb: true },
    rule_files: [RULES],
    scrape_configs: [...jobs, exponentialJob(address)],
  });
  const url = await programs.prometheus(prometheus, config, ['--enable-feature=native-histograms']);
  for (let i = 0; i < REQUESTS; i++) {
    await fetch(`${url}/api/v1/query?query=1`);
  }
  return { url, exponentialServer: `${EXPONENTIAL_JOB}/${new URL(url).host}` };
}

function exponentialJob(address: string): object {
  return {
    job_name: EXPONENTIAL_JOB,
    static_configs: [{ targets: [address] }],
    metric_relabel_configs: [
      {
        source_labels: ['__name__', 'handler'],
        regex: 'prometheus_http_request_duration_seconds;/api/v1/query',
        target_label: '__name__',
        replacement: EXPONENTIAL,
      },
      { source_labels: ['__name__'], regex: `${EXPONENTIAL}|process_start_time_seconds`, action: 'keep' },
    ],
  };
}
