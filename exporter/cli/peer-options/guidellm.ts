import { accepted, differs, instead, none, type Peer } from './answer.ts';
import { ALL_STORED, DOWNLOAD, OWN_PROGRESS } from './common-answers.ts';

const LOADER = none('a file is read whole before the run, in its order or by `--dataset-sampling-strategy`');
const COLUMNS = instead('convert the data to one JSON object with `text` per line (see `--custom-dataset-type`)');

/** guidellm run of GuideLLM 0.8.1, and guidellm benchmark of 0.6 with the options of its migration guide. */
export const GUIDELLM: Peer = {
  name: 'GuideLLM',
  command: 'guidellm run, guidellm benchmark',
  version: '0.8.1; 0.3 to 0.6',
  options: [
    ['--target', accepted('url')],
    ['--model', accepted('model', 'required: it is not read from the server')],
    [
      '--backend',
      instead('use `--url` for its target, `--endpoint-type` for its request format, `--extra-inputs` for its body'),
    ],
    [
      '--backend-kwargs --backend-args --backend-type',
      instead('use `--extra-inputs`, `--header`, `--api-key-env`, `--tls-ca` or `--tls-insecure`'),
    ],
    [
      '--request-format --request-type --request-formatter-kwargs',
      instead('use `--endpoint-type`: /v1/chat/completions is `chat`, /v1/completions `completions`'),
    ],
    [
      '--profile --rate-type',
      instead(
        'use `--concurrency N` for concurrent (1 for synchronous), `--request-rate RATE` for poisson, with `--arrival-pattern constant` for constant, `--request-rate inf` for throughput, `--find` or a list of loads for sweep',
      ),
    ],
    [
      '--rate',
      instead(
        'use `--request-rate VALUE`, or `--concurrency VALUE` for the profile concurrent; several, with commas, are a sweep',
      ),
    ],
    ['--rampup', instead('use `--request-rate-ramp-duration VALUE` or `--concurrency-ramp-duration VALUE`')],
    [
      '--warmup --warmup-percent',
      instead('use `--warmup-request-count N` or `--warmup-duration SECONDS`: requests sent before the measurement'),
    ],
    [
      '--cooldown --cooldown-percent',
      instead('use `--cool-down`: the load stays constant until the last measured request has ended'),
    ],
    [
      '--constraint',
      instead(
        'use `--request-count`, `--benchmark-duration`, `--failed-request-threshold`, and `--find` for its over_saturation',
      ),
    ],
    ['--max-seconds', differs('use `--benchmark-duration`; our `--max-seconds` limits a search (`--find`)')],
    ['--max-requests', differs('use `--request-count`; our `--max-requests` limits a search (`--find`)')],
    ['--max-errors', instead('use `--stop-after-errors VALUE`')],
    [
      '--max-error-rate --max-global-error-rate',
      instead('use `--failed-request-threshold VALUE`; or `--slo "error_ratio<=1%"` for exit code 99'),
    ],
    [
      '--detect-saturation --over-saturation --default-over-saturation',
      instead('use `--find request-rate --slo …`: a probe ends when its queue grows steadily'),
    ],
    [
      '--data',
      instead(
        'use `--isl` and `--osl` for its prompt_tokens and output_tokens, or `--input-file FILE`; download datasets of the Hugging Face hub first',
      ),
    ],
    ['--data-args', DOWNLOAD],
    [
      '--data-column-mapper --data-preprocessor --data-preprocessors --data-preprocessors-kwargs --data-finalizer',
      COLUMNS,
    ],
    ['--data-loader --data-num-workers --dataloader-kwargs', LOADER],
    ['--data-sampler', instead('use `--dataset-sampling-strategy shuffle`')],
    ['--data-samples', instead('use `--num-dataset-entries VALUE`; a file is used whole')],
    ['--tokenizer', differs('takes a name or a file, instead of kind=…,model=…')],
    ['--processor', accepted('tokenizer')],
    ['--processor-args', instead('use `--tokenizer-revision REVISION`')],
    ['--random-seed', accepted('random-seed')],
    ['--seed', accepted('random-seed', 'takes the number, instead of kind=static,value=…')],
    ['--config -c', differs('a YAML file with our options as keys')],
    ['--scenario', differs('the name of the benchmark; a file of options is `--config FILE`')],
    ['--label -l', instead('use `--tag`')],
    ['--override', instead('use lists, `--concurrency 1,2,4`, or a matrix in the file of `--config`')],
    [
      '--output --outputs',
      instead('every run has result.json, records as Parquet and report.html; `llmbench runs export` writes CSV'),
    ],
    ['--output-path --output-dir', instead('use `--runs-dir VALUE`')],
    ['--output-extras', instead('use `--tag`')],
    ['--metrics', none('every measure is computed; its slo is `--goodput`')],
    ['--sample-requests --output-sampling', ALL_STORED],
    ['--disable-console --disable-console-outputs', instead('use `--json`, and 2>/dev/null for the progress')],
    ['--disable-console-interactive --disable-progress --display-scheduler-stats', OWN_PROGRESS],
  ],
};
