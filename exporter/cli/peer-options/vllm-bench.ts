import { accepted, differs, field, instead, none, type Peer } from './answer.ts';
import {
  ALL_PERCENTILES,
  ALL_STORED,
  DOWNLOAD,
  NO_LORA,
  NO_PROFILER,
  OWN_PROGRESS,
  RANDOM_RANGE,
  TEXT_ONLY,
  TRUSTS_NO_CODE,
  WAIT_FOR_SERVER,
} from './common-answers.ts';

/** vllm/benchmarks/serve.py and vllm/benchmarks/datasets/datasets.py of vllm-project/vllm. */
export const VLLM_BENCH: Peer = {
  name: 'vLLM',
  command: 'vllm bench serve',
  version: 'main branch, 2026',
  options: [
    ['--base-url', accepted('url')],
    ['--host --port', instead('use `--url http://HOST:PORT`')],
    [
      '--endpoint',
      instead(
        'use `--endpoint-type`, such as `chat` or `completions` (its default is /v1/completions, ours chat), and `--endpoint-path` for other paths',
      ),
    ],
    [
      '--backend',
      instead(
        'use `--endpoint-type`: openai-chat is `chat`; openai and vllm are `completions`; openai-embeddings is `embeddings`',
      ),
    ],
    ['--header', differs('takes `NAME:VALUE` instead of `KEY=VALUE`; may be repeated')],
    ['--model', accepted('model', 'required: it is not read from the server')],
    ['--served-model-name', instead('use `--model` for the name in the API, and `--tokenizer` for the tokenizer')],
    ['--label', instead('use `--scenario NAME` for what you compare over time, `--tag` for the rest')],
    ['--tokenizer', accepted('tokenizer', 'none by default: each word of a prompt then counts as one token')],
    [
      '--tokenizer-mode',
      none('`--tokenizer` recognizes tokenizer.json, tiktoken encodings and models on the Hugging Face hub'),
    ],
    ['--trust-remote-code', TRUSTS_NO_CODE],
    ['--skip-tokenizer-init', none('without `--tokenizer` none is loaded')],
    ['--num-prompts', accepted('request-count', 'required, or `--benchmark-duration`')],
    ['--max-concurrency', accepted('concurrency')],
    [
      '--request-rate',
      accepted('request-rate', '`inf` works; without a rate the load is `--concurrency`, by default 1'),
    ],
    ['--burstiness', instead('use `--arrival-pattern gamma --arrival-smoothness VALUE`: the same number')],
    [
      '--ramp-up-strategy --ramp-up-start-rps --ramp-up-end-rps',
      instead(
        'use `--request-rate` with the rate at the end and `--request-rate-ramp-duration SECONDS`: linear from 0, not over all requests',
      ),
    ],
    [
      '--probe-request-rate',
      instead('start a second `llmbench run` with `--request-rate VALUE --osl 1` and a `--scenario` of its own'),
    ],
    ['--num-warmups', accepted('warmup-request-count')],
    ['--ready-check-timeout-sec', WAIT_FOR_SERVER],
    ['--self-timed', accepted('fixed-schedule', 'the default for a trace with timestamps')],
    ['--no-self-timed', accepted('no-fixed-schedule')],
    ['--input-len --random-input-len', accepted('isl', 'default 550, exact with `--tokenizer`')],
    [
      '--output-len --random-output-len',
      accepted('osl', 'vLLM also sets `--ignore-eos` with random prompts; here it is off by default'),
    ],
    ['--random-range-ratio', RANDOM_RANGE],
    ['--random-prefix-len', instead('use `--shared-system-prompt-length VALUE`: in chat a system message')],
    ['--random-batch-size --no-reranker', none('an embeddings request has one text; rerankers are not supported')],
    [
      '--dataset-name',
      instead(
        'random prompts are the default; a file is `--input-file FILE`, whose format is detected; prefix_repetition is `--num-prefix-prompts` with `--prefix-prompt-length`',
      ),
    ],
    ['--dataset-path', instead('use `--input-file FILE`; its format is detected')],
    ['--disable-shuffle', none('files are sent in their order; `--dataset-sampling-strategy shuffle` changes it')],
    ['--no-oversample', none('a file with fewer entries than `--request-count` is sent again from its beginning')],
    ['--no-stream', none('it is about downloading datasets; a response without streaming is `--no-streaming`')],
    ['--skip-chat-template', instead('use `--endpoint-type completions`: the server adds no chat template there')],
    [
      '--chat-template-kwargs',
      instead('use `--extra-inputs \'{"chat_template_kwargs":{…}}\'`: the server applies the template'),
    ],
    ['--prefix-repetition-prefix-len', accepted('prefix-prompt-length')],
    ['--prefix-repetition-num-prefixes', accepted('num-prefix-prompts')],
    ['--prefix-repetition-suffix-len', accepted('isl')],
    [
      '--prefix-repetition-output-len --sonnet-output-len --sharegpt-output-len --custom-output-len --hf-output-len --spec-bench-output-len --speed-bench-output-len',
      accepted('osl', 'for entries without a length of their own'),
    ],
    [
      '--sonnet-input-len --sonnet-prefix-len',
      instead('use `--isl` and `--shared-system-prompt-length` with random words'),
    ],
    [
      '--timed-trace-chunk-hash-size',
      accepted('isl-block-size', 'by default that of the format: 512 for Mooncake, 16 for Bailian'),
    ],
    [
      '--timed-trace-sec-multiplier',
      none('the unit of timestamps is that of the format; `--synthesis-speedup-ratio` replays faster or slower'),
    ],
    [
      '--timed-trace-label-timestamp --timed-trace-label-input-length --timed-trace-label-output-length --timed-trace-label-hash-ids',
      none('the published names of the fields are read; rename others with jq'),
    ],
    ['--hf-name --hf-subset --hf-split --bfcl-categories', DOWNLOAD],
    [
      '--spec-bench-category --speed-bench-dataset-subset --speed-bench-category --blazedit-min-distance --blazedit-max-distance',
      instead('convert the selected entries to one JSON object with `text` per line and use `--input-file FILE`'),
    ],
    [
      '--enable-multimodal-chat --custom-ensure-client-side-data --asr-max-audio-len-sec --asr-min-audio-len-sec --random-mm-base-items-per-request --random-mm-num-mm-items-range-ratio --random-mm-limit-mm-per-prompt --random-mm-bucket-config',
      TEXT_ONLY,
    ],
    ['--seed', accepted('random-seed', 'without it every run has new texts')],
    ['--ignore-eos', accepted('ignore-eos')],
    ['--extra-body', accepted('extra-inputs')],
    ['--top-p', field('top_p')],
    ['--top-k', field('top_k')],
    ['--min-p', field('min_p')],
    ['--temperature', field('temperature')],
    ['--frequency-penalty', field('frequency_penalty')],
    ['--presence-penalty', field('presence_penalty')],
    ['--repetition-penalty', field('repetition_penalty')],
    ['--logprobs', field('logprobs')],
    ['--use-beam-search', instead('use `--extra-inputs use_beam_search:true` if the server accepts it')],
    ['--lora-modules --lora-assignment', NO_LORA],
    ['--goodput', accepted('goodput', 'in quotation marks or as several values; `tpot` and `e2el` are known')],
    ['--percentile-metrics --metric-percentiles', ALL_PERCENTILES],
    ['--save-result --save-detailed --append-result --result-filename', ALL_STORED],
    ['--result-dir', instead('use `--runs-dir VALUE`')],
    ['--metadata', differs('one `KEY=VALUE` after each `--metadata`')],
    ['--request-id-prefix', none('requests have no ID of their own; `--header` adds a header to each')],
    [
      '--plot-timeline --timeline-itl-thresholds --plot-dataset-stats',
      none('the report of a run (report.html) has its charts'),
    ],
    ['--disable-tqdm', OWN_PROGRESS],
    ['--insecure', accepted('tls-insecure')],
    ['--profile', NO_PROFILER],
  ],
};
