import { accepted, differs, instead, none, type Peer, type AnsweredOptions } from './answer.ts';
import {
  API_KEY,
  OWN_PROGRESS,
  RANDOM_RANGE,
  SERVER_COUNTS,
  TEXT_ONLY,
  TRUSTS_NO_CODE,
  WAIT_FOR_SERVER,
  DOWNLOAD,
} from './common-answers.ts';

const SEARCH = instead(
  'use `--find concurrency|request-rate --slo "ttft:p95<300ms"`: the largest load that meets the objectives',
);
const MATRIX = instead('use lists of loads, `--concurrency 1,2,4`, or a matrix in the file of `--config`');

/** Several runs with one command of AIPerf: repeats, sweeps, searches. */
const AIPERF_SEARCH: AnsweredOptions = [
  ['--num-profile-runs', accepted('num-profile-runs')],
  ['--profile-run-cooldown-seconds', accepted('profile-run-cooldown-seconds')],
  ['--parameter-sweep-cooldown-seconds', accepted('profile-run-cooldown-seconds', 'also between the loads of a sweep')],
  [
    '--confidence-level --convergence-metric --convergence-stat --convergence-threshold --convergence-mode',
    none('the spread over the runs is reported; `llmbench compare` and `check` say how many runs decide'),
  ],
  [
    '--profile-run-disable-warmup-after-first --no-profile-run-disable-warmup-after-first',
    none('every run has its warm-up'),
  ],
  [
    '--set-consistent-seed --no-set-consistent-seed --vary-seed-per-trial --no-vary-seed-per-trial --parameter-sweep-same-seed --no-parameter-sweep-same-seed',
    instead('use `--same-prompts`: by default lengths and arrivals are the same in all runs and texts are new'),
  ],
  ['--parameter-sweep-mode', none('all loads are measured once, then again: repeats are the outer loop')],
  ['--sweep-type --variant --sweep-variant --isl-osl-pairs', MATRIX],
  ['--request-rate-series', instead('start one run for each rate, or `--request-rate 5,10,20` as a sweep')],
  ['--no-sweep-table', instead('use `--json`')],
  [
    '--concurrency-min --concurrency-max --concurrency-steps',
    instead('use `--concurrency 1,2,4`, or `--find concurrency --find-max N`'),
  ],
  ['--isl-min --isl-max --isl-steps --osl-min --osl-max --osl-steps', MATRIX],
  [
    '--ttft-sla-ms --itl-sla-ms --tpot-sla-ms --e2e-sla-ms --error-rate-sla',
    instead('use `--find` with `--slo "ttft:p95<300ms"`, `--slo "itl:p95<50ms"` or `--slo "error_ratio<=1%"`'),
  ],
  [
    '--search-space --search-metric --search-stat --search-direction --search-max-iterations --search-initial-points --search-random-seed --search-planner --optuna-sampler --optuna-acquisition --optuna-terminator --search-percentile-pooling --bo-constraint-mode --search-sla --search-sla-tier --search-recipe --slo-attainment-fraction --search-style --degradation-threshold --degradation-metric-tag --degradation-stat',
    SEARCH,
  ],
];

const AGENT_TRACES = none('recorded sessions of agents (weka_trace, tracelab, dag_jsonl) are not read');
const SYNTHESIS = none('a trace is replayed as it is; change its rows in the file');

/** aiperf/config/flags/cli_config.py of AIPerf 0.13.0. */
export const AIPERF: Peer = {
  name: 'AIPerf',
  command: 'aiperf profile',
  version: '0.13.0',
  options: [
    ['--model --model-names -m', accepted('model', 'one')],
    ['--model-selection-strategy', none('a run has one model')],
    ['--url -u', accepted('url')],
    ['--url-strategy', none('several URLs are used round-robin')],
    [
      '--endpoint --custom-endpoint',
      instead('use `--endpoint-path VALUE`, below `--url`; a full URL in `--url` needs none'),
    ],
    [
      '--endpoint-type',
      accepted(
        'endpoint-type',
        'chat, completions, responses, embeddings, template; rankings, images and video have no counterpart',
      ),
    ],
    ['--streaming', accepted('streaming', 'the default')],
    ['--request-timeout-seconds', accepted('request-timeout-seconds')],
    ['--wait-for-model-timeout --wait-for-model-mode --wait-for-model-interval', WAIT_FOR_SERVER],
    ['--reset-kv-cache', accepted('reset-kv-cache')],
    ['--reset-kv-cache-timeout-seconds', accepted('reset-kv-cache-timeout-seconds')],
    ['--reset-kv-cache-path', accepted('reset-kv-cache-path')],
    [
      '--server-profiler --server-profiler-timeout-seconds --server-profiler-start-path --server-profiler-stop-path',
      none('profilers of the server are not started; start them on the server'),
    ],
    ['--api-key', API_KEY],
    ['--transport --transport-type', differs('chooses the HTTP client, `auto`, `undici` or `raw`')],
    ['--use-legacy-max-tokens', none('`max_tokens` is the default, and `--max-tokens-field` sets another field')],
    ['--use-server-token-count --per-chunk-usage', SERVER_COUNTS],
    ['--connection-reuse-strategy', none('connections are pooled; `--header "connection: close"` is refused')],
    ['--request-content-type --download-video-content --uuid-and-strip', TEXT_ONLY],
    ['--session-header', none('conversations send no header of their own; `--header` adds one to each request')],
    ['--tokenizer', accepted('tokenizer', 'none by default: each word of a prompt then counts as one token')],
    ['--tokenizer-revision', accepted('tokenizer-revision')],
    ['--tokenizer-trust-remote-code', TRUSTS_NO_CODE],
    [
      '--apply-chat-template',
      none('the server applies the template; the difference is reported as `usage_prompt_tokens_diff_ratio`'),
    ],
    ['--extra-inputs', accepted('extra-inputs')],
    ['--header -H', accepted('header')],
    ['--input-file', accepted('input-file')],
    ['--public-dataset --hf-subset --hf-weka-dataset --dataset-filter', DOWNLOAD],
    ['--custom-dataset-type', accepted('custom-dataset-type', 'detected by default; not all of its types')],
    ['--ignore-trace-delays', accepted('no-fixed-schedule')],
    ['--dataset-sampling-strategy', accepted('dataset-sampling-strategy')],
    ['--allow-dataset-wrap --no-allow-dataset-wrap', none('a file is sent again from its beginning')],
    ['--random-seed', accepted('random-seed')],
    ['--fixed-schedule', accepted('fixed-schedule')],
    ['--no-fixed-schedule', accepted('no-fixed-schedule')],
    ['--fixed-schedule-auto-offset', accepted('fixed-schedule-auto-offset')],
    ['--fixed-schedule-start-offset', accepted('fixed-schedule-start-offset')],
    ['--fixed-schedule-end-offset', accepted('fixed-schedule-end-offset')],
    ['--synthesis-speedup-ratio', accepted('synthesis-speedup-ratio')],
    ['--replay-speedup', accepted('synthesis-speedup-ratio')],
    [
      '--synthesis-prefix-len-multiplier --synthesis-prefix-root-multiplier --synthesis-prompt-len-multiplier --synthesis-output-len-multiplier --synthesis-max-isl --synthesis-max-osl',
      SYNTHESIS,
    ],
    [
      '--max-context-length --trace-session-sample-ratio --max-idle-gap-cap-seconds --inter-turn-delay-cap-seconds --open-loop-replay --no-open-loop-replay --open-loop-strict --omit-kv-hints --force-min-tokens --no-force-min-tokens --use-think-time-only --trace-idle-gap-cap-seconds --system-idle-gap-cap-seconds --trajectory-start-min-ratio --trajectory-start-max-ratio --burst-phase-starts --agentic-cache-warmup-duration --agentic-warmup-grace-period',
      AGENT_TRACES,
    ],
    ['--goodput', accepted('goodput')],
    [
      '--conversation-num --num-conversations --num-sessions',
      instead('use `--request-count N`: it counts requests, that is turns, not conversations'),
    ],
    ['--num-dataset-entries', accepted('num-dataset-entries')],
    [
      '--num-prompts',
      instead('use `--num-dataset-entries`; here `--num-prompts` is the number of requests, as in vLLM'),
    ],
    ['--session-turns-mean --conversation-turn-mean', accepted('session-turns-mean')],
    ['--session-turns-stddev --conversation-turn-stddev', accepted('session-turns-stddev')],
    ['--session-turn-delay-mean --conversation-turn-delay-mean', accepted('session-turn-delay-mean')],
    ['--session-turn-delay-stddev --conversation-turn-delay-stddev', accepted('session-turn-delay-stddev')],
    ['--session-delay-ratio --conversation-turn-delay-ratio', accepted('session-delay-ratio')],
    ['--batch-size-text --prompt-batch-size --batch-size -b', none('a request has one text')],
    [
      '--prompt-corpus --random-corpus-style --cache-bust',
      none('prompts are random words, new in every run; `--same-prompts` repeats them'),
    ],
    [
      '--system-prompt --system-prompt-file',
      instead('use a `multi_turn` file with a turn of the role system, or `--shared-system-prompt-length N`'),
    ],
    ['--num-prefix-prompts --prefix-prompt-pool-size --prompt-prefix-pool-size', accepted('num-prefix-prompts')],
    ['--prefix-prompt-length --prompt-prefix-length', accepted('prefix-prompt-length')],
    ['--shared-system-prompt-length', accepted('shared-system-prompt-length')],
    ['--user-context-prompt-length', accepted('user-context-prompt-length')],
    [
      '--isl --prompt-input-tokens-mean --synthetic-input-tokens-mean',
      accepted('isl', 'one value; several are a matrix in the file of `--config`'),
    ],
    ['--isl-stddev --prompt-input-tokens-stddev --synthetic-input-tokens-stddev', accepted('isl-stddev')],
    [
      '--isl-block-size --prompt-input-tokens-block-size --synthetic-input-tokens-block-size',
      accepted('isl-block-size'),
    ],
    ['--seq-dist --sequence-distribution', accepted('seq-dist')],
    ['--random-range-ratio', RANDOM_RANGE],
    ['--osl --prompt-output-tokens-mean --output-tokens-mean', accepted('osl', 'default 128')],
    ['--osl-stddev --prompt-output-tokens-stddev --output-tokens-stddev', accepted('osl-stddev')],
    [
      '--audio-batch-size --batch-size-audio --audio-length-mean --audio-length-stddev --audio-format --audio-depths --audio-sample-rates --audio-num-channels --image-batch-size --batch-size-image --image-width-mean --image-width-stddev --image-height-mean --image-height-stddev --image-format --image-source --image-source-sampling --video-batch-size --batch-size-video --video-duration --video-fps --video-width --video-height --video-synth-type --video-format --video-codec --video-audio-sample-rate --video-audio-num-channels --video-audio-codec --video-audio-depth',
      TEXT_ONLY,
    ],
    [
      '--rankings-passages-mean --rankings-passages-stddev --rankings-passages-prompt-token-mean --rankings-passages-prompt-token-stddev --rankings-query-prompt-token-mean --rankings-query-prompt-token-stddev',
      none('rerankers are not supported'),
    ],
    ['--benchmark-duration', accepted('benchmark-duration')],
    ['--benchmark-grace-period', accepted('benchmark-grace-period')],
    ['--concurrency', accepted('concurrency')],
    ['--prefill-concurrency', accepted('prefill-concurrency')],
    ['--request-rate', accepted('request-rate')],
    ['--arrival-pattern --request-rate-mode', accepted('arrival-pattern')],
    ['--arrival-smoothness --vllm-burstiness', accepted('arrival-smoothness', 'with `--arrival-pattern gamma`')],
    ['--request-count --num-requests', accepted('request-count', 'required, or `--benchmark-duration`')],
    ['--concurrency-ramp-duration', accepted('concurrency-ramp-duration')],
    ['--prefill-concurrency-ramp-duration', accepted('prefill-concurrency-ramp-duration')],
    ['--request-rate-ramp-duration', accepted('request-rate-ramp-duration')],
    ['--failed-request-threshold', accepted('failed-request-threshold')],
    ['--scenario', differs('the name of the benchmark in metrics and comparisons')],
    ['--unsafe-override', none('a scenario locks no options')],
    ['--warmup-request-count --num-warmup-requests', accepted('warmup-request-count')],
    ['--warmup-duration', accepted('warmup-duration')],
    ['--num-warmup-sessions', instead('use `--warmup-request-count N`: it counts requests, that is turns')],
    ['--warmup-concurrency', accepted('warmup-concurrency')],
    ['--warmup-prefill-concurrency', accepted('warmup-prefill-concurrency')],
    ['--warmup-request-rate', accepted('warmup-request-rate')],
    ['--warmup-arrival-pattern', accepted('warmup-arrival-pattern')],
    ['--warmup-grace-period', accepted('warmup-grace-period')],
    [
      '--warmup-concurrency-ramp-duration --warmup-prefill-concurrency-ramp-duration --warmup-request-rate-ramp-duration',
      none('a warm-up starts with its full load; it is in no result'),
    ],
    ['--request-cancellation-rate', accepted('request-cancellation-rate')],
    ['--request-cancellation-delay', accepted('request-cancellation-delay')],
    [
      '--output-artifact-dir --artifact-dir',
      instead('use `--runs-dir DIR`; `--export aiperf` adds profile_export_aiperf.json and .csv to the run'),
    ],
    [
      '--profile-export-prefix --profile-export-file --export-level --profile-export-level',
      instead('use `--export aiperf`: the files have the usual names; requests are always stored'),
    ],
    ['--slice-duration', accepted('slice-duration')],
    ['--auto-plot --no-auto-plot --plot-required', none('every run has a report with charts (report.html)')],
    ['--export-outputs-json', none('texts of responses are not kept')],
    ['--export-http-trace', accepted('export-http-trace')],
    ['--show-trace-timing', none('with `--export-http-trace` the table has the HTTP phases')],
    [
      '--otel-url --stream --otel-resource-attributes --gen-ai-provider',
      instead(
        'use `--metrics-port` or `--remote-write-url`: live metrics for Prometheus, or the OTLP side of a collector',
      ),
    ],
    [
      '--mlflow-tracking-uri --mlflow-experiment --mlflow-run-name --mlflow-tag --mlflow-parent-run-id --mlflow-artifact-glob --wandb-project --wandb-entity --wandb-run-name --wandb-tag',
      none('runs are kept in `--runs-dir` and published to Prometheus and Grafana'),
    ],
    ['--server-metrics', accepted('server-metrics')],
    ['--no-server-metrics', accepted('no-server-metrics')],
    ['--server-metrics-formats', accepted('server-metrics-formats')],
    ['--gpu-telemetry', accepted('gpu-telemetry', 'URLs of DCGM exporters')],
    ['--no-gpu-telemetry', none('DCGM exporters are read where they are named or found; `--no-discovery` finds none')],
    [
      '--network-latency-automatic --network-latency-mean --network-latency-ping-interval',
      none('latencies are what the client saw; `--export-http-trace` records how long connecting took'),
    ],
    ['--ui --ui-type', OWN_PROGRESS],
    ['--stats-interval', OWN_PROGRESS],
    ...AIPERF_SEARCH,
    [
      '--user-centric-rate --num-users',
      instead(
        'use `--concurrency` with `--session-turns-mean` and `--session-turn-delay-mean`: users who answer after a delay',
      ),
    ],
    [
      '--accuracy-benchmark --accuracy-tasks --accuracy-n-shots --accuracy-enable-cot --accuracy-no-enable-cot --accuracy-grader --accuracy-system-prompt --accuracy-verbose',
      none('answers are not graded'),
    ],
    ['--config -f', differs('a YAML file with our options as keys')],
    ['--log-level', none('notes and progress are on standard error; a message names its cause')],
    ['--verbose', accepted('verbose')],
    ['-v', instead('use `--verbose`')],
    ['--extra-verbose -vv', instead('use `--verbose`')],
    [
      '--api-port --api-host',
      instead('use `--metrics-port` and `--metrics-host` for live metrics, `llmbench serve` for the API'),
    ],
    ['--workers-max --max-workers', accepted('workers')],
    [
      '--record-processor-service-count --record-processors --zmq-host --zmq-ipc-path --zmq-dual-bind',
      none('one process, with `--workers` threads'),
    ],
  ],
};
