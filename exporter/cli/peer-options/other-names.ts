import { accepted, differs, instead, type Peer } from './answer.ts';

/** LLMPerf's token_benchmark_ray.py, and names that many programs share. */
export const OTHER_NAMES: Peer = {
  name: 'LLMPerf and other names',
  command: 'token_benchmark_ray.py',
  version: '2.0',
  options: [
    ['--llm-api', instead('use `--endpoint-type`')],
    ['--mean-input-tokens', accepted('isl')],
    ['--stddev-input-tokens', accepted('isl-stddev')],
    ['--mean-output-tokens', accepted('osl')],
    ['--stddev-output-tokens', accepted('osl-stddev')],
    ['--num-concurrent-requests', accepted('concurrency')],
    ['--max-num-completed-requests', accepted('request-count')],
    ['--timeout', instead('use `--benchmark-duration` for the whole run, `--request-timeout-seconds` for one request')],
    ['--additional-sampling-params', accepted('extra-inputs')],
    ['--results-dir', instead('use `--runs-dir VALUE`')],
    ['--metadata', differs('one `KEY=VALUE` after each `--metadata`')],
    ['--endpoint-url', accepted('url')],
    [
      '--sweep',
      differs(
        '`--sweep auto` doubles the concurrency until throughput no longer grows; lists such as `--request-rate 5,10` give the loads',
      ),
    ],
    ['--qps --rps', accepted('request-rate')],
    ['--requests', accepted('request-count')],
    ['--duration', instead('use `--benchmark-duration VALUE`, in seconds')],
    ['--prompt-tokens', accepted('isl')],
    ['--output-tokens', instead('use `--osl VALUE`')],
    ['--max-tokens', instead('use `--osl VALUE`')],
    ['--output -o', instead('use `--runs-dir DIR`, or `--json` for the result on standard output')],
  ],
};
