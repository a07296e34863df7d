import { PEERS, type AnsweredOptions, type OptionAnswer, type Peer } from '../../exporter/cli/peer-options/peers.ts';
import { code, GENERATED, page, table } from './markdown.ts';

/** More flags with one answer stand in a list: a table would be too wide. */
const MAX_IN_TABLE = 4;

/** What each option of other tools is in llmbench, from the table that the command line answers from. */
export function peersPage(): string {
  return page(
    GENERATED,
    '# Coming from AIPerf, vLLM bench, SGLang, GuideLLM or GenAI-Perf',
    INTRODUCTION,
    PASTED,
    '## The same benchmark',
    EXAMPLES,
    '## What differs',
    DIFFERENCES,
    '## Datasets and traces',
    TRACES,
    TRACE_FORMATS,
    TRACE_NOTES,
    ...PEERS.flatMap(sectionOf),
  );
}

function sectionOf({ name, command, version, options }: Peer): readonly string[] {
  const same = options.filter(([flags, response]) => isSame(flags, response)).map(([flags]) => flags);
  const others = options.filter(([flags, response]) => !isSame(flags, response));
  const [rows, long] = [true, false].map((isRow) => others.filter((each) => isInTable(each) === isRow));
  return [
    `## ${name}`,
    `${code(command)} (${version}).${same.length === 0 ? '' : ` Same name and meaning: ${codes(same)}.`}`,
    table(
      ['option', 'llmbench'],
      (rows ?? []).map(([flags, response]) => [codes(flags.split(' ')), responseText(flags, response)]),
    ),
    long === undefined || long.length === 0 ? '' : `Without a counterpart, or in another form:`,
    (long ?? [])
      .map(([flags, response]) => `- ${responseText(flags, response)}: ${codes(flags.split(' '))}`)
      .join('\n'),
  ];
}

const isSame = (flags: string, response: OptionAnswer): boolean =>
  response.kind === 'accepted' && response.note === null && flags === `--${response.option}`;

const isInTable = ([flags, { kind }]: AnsweredOptions[number]): boolean =>
  kind === 'accepted' || (kind !== 'none' && kind !== 'unsupported' && flags.split(' ').length <= MAX_IN_TABLE);

const codes = (flags: readonly string[]): string => flags.map(code).join(', ');

function responseText(flags: string, response: OptionAnswer): string {
  if (response.kind === 'differs') return `differs: ${response.text}`;
  if (response.kind !== 'accepted') return response.text;
  const names = flags.split(' ').filter((flag) => flag !== `--${response.option}`);
  const means = names.length === 0 ? 'the same' : `accepted as ${code(`--${response.option}`)}`;
  return response.note === null ? means : `${means}; ${response.note}`;
}

const INTRODUCTION = `\`llmbench run\` has the option names of \`aiperf profile\` where the meaning is the same. Names of other tools that mean the same
are accepted; the run then records llmbench's names. Every other option is answered with what to use instead, for example:

\`\`\`
  --burstiness is not an option; use --arrival-pattern gamma --arrival-smoothness 0.5: the same number
  --save-result is not an option; there is no counterpart: every run is stored in --runs-dir, with one row per request
\`\`\`

Results that these tools have written can be [imported](import-results.md).`;

const PASTED = `## Paste a command

\`llmbench\` before a command of these tools translates it, prints the translation with what differs, and runs it:

\`\`\`
$ llmbench vllm bench serve --model llama --random-input-len 512 --random-output-len 128 --num-prompts 500 --save-result
vllm bench serve is: llmbench run --model llama --isl 512 --osl 128 --request-count 500 --url http://127.0.0.1:8000 --endpoint-type completions --request-rate inf --ignore-eos
  --save-result is left out: every run is stored in --runs-dir, with one row per request
  each word of a prompt counts as one token here: add --tokenizer NAME for exact lengths
\`\`\`

The tool's defaults that change the load are part of the translation. What needs no counterpart is left out with a line. If an
option cannot be translated, nothing is sent, and a line states why. Options of \`llmbench run\`, such as \`--scenario\` and
\`--yes\`, can be added. These commands are translated: ${codes(PEERS.flatMap(({ begins }) => begins))}.`;

const EXAMPLES = table(
  ['tool', 'command'],
  [
    [
      'AIPerf',
      'aiperf profile -m llama -u localhost:8000 --endpoint-type chat --streaming --concurrency 16 --request-count 500 --isl 512 --osl 128',
    ],
    [
      'vLLM',
      'vllm bench serve --backend openai-chat --endpoint /v1/chat/completions --model llama --random-input-len 512 --random-output-len 128 --max-concurrency 16 --num-prompts 500',
    ],
    [
      'SGLang',
      'python -m sglang.bench_serving --backend vllm-chat --model llama --dataset-name random --random-input-len 512 --random-output-len 128 --random-range-ratio 1 --max-concurrency 16 --num-prompts 500',
    ],
    [
      'GuideLLM 0.6',
      'guidellm benchmark --target http://localhost:8000 --rate-type concurrent --rate 16 --max-requests 500 --data prompt_tokens=512,output_tokens=128',
    ],
    [
      'GenAI-Perf',
      'genai-perf profile -m llama -u localhost:8000 --endpoint-type chat --streaming --concurrency 16 --request-count 500 --isl 512 --osl 128',
    ],
    [
      'llmbench',
      'llmbench run -m llama -u localhost:8000 --concurrency 16 --request-count 500 --isl 512 --osl 128 --ignore-eos',
    ],
  ].map(([tool = '', command = '']) => [tool, code(command)]),
);

const DIFFERENCES = `- \`--request-count\` or \`--benchmark-duration\` is required; without \`--model\`, the only model that the server lists is used.
- Without a load, one request is in flight. vLLM and SGLang send all requests at once by default: \`--request-rate inf\`, with a
  limit \`--concurrency 16\`. The two together are the same load as \`--concurrency 16\`, and are recorded as that.
- The default endpoint is chat; that of vLLM's and SGLang's benchmarks is completions: \`--endpoint-type completions\`.
- Lengths of random prompts are exact with \`--tokenizer\`. vLLM and SGLang also make the server generate the full length:
  \`--ignore-eos\`.
- Prompts are new in every run, so that prefix caches do not contain them; \`--same-prompts\` or \`--random-seed N\` sends them again.
- Time per output token (TPOT) of vLLM and SGLang is \`inter_token_latency\`; their ITL, the gaps between chunks, is
  \`inter_chunk_latency\`. [All measures](measures.md).
- Latencies are counted from sending, as in these tools, and in measures that end in "from due" from when a request was due.`;

const TRACES = `\`--input-file FILE\` reads public datasets and traces in their published formats. The format is found from the content, which a
line confirms; \`--custom-dataset-type\` sets it. A malformed row is refused with its line.`;

const TRACE_FORMATS = table(
  ['dataset', '`--custom-dataset-type`', 'where to get it'],
  [
    [
      'ShareGPT',
      '`sharegpt`',
      '[ShareGPT_Vicuna_unfiltered](https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered)',
    ],
    [
      "Mooncake, FAST'25",
      '`mooncake_trace`',
      '[traces](https://github.com/kvcache-ai/Mooncake/tree/main/FAST25-release/traces)',
    ],
    ['BurstGPT, releases 1 and 2', '`burst_gpt_trace`', '[releases](https://github.com/HPMLL/BurstGPT/releases)'],
    [
      'Azure LLM inference 2023',
      '`azure_trace`',
      '[description](https://github.com/Azure/AzurePublicDataset/blob/master/AzureLLMInferenceDataset2023.md)',
    ],
    [
      'Azure LLM inference 2024',
      '`azure_trace`',
      '[description](https://github.com/Azure/AzurePublicDataset/blob/master/AzureLLMInferenceDataset2024.md)',
    ],
    [
      'Alibaba Bailian (Qwen)',
      '`bailian_trace`',
      '[repository](https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon)',
    ],
  ],
);

const TRACE_NOTES = `\`\`\`sh
npx llmbench run --url http://localhost:8000 --model sim-model --input-file BurstGPT_1.csv --ignore-eos \\
  --fixed-schedule-end-offset 600000 --synthesis-speedup-ratio 4
\`\`\`

- Requests of a trace are sent at its timestamps; \`--no-fixed-schedule\` with \`--concurrency\` or \`--request-rate\` uses only its
  lengths. \`--synthesis-speedup-ratio 4\` replays it four times as fast.
- \`--fixed-schedule-start-offset\` and \`--fixed-schedule-end-offset\` select a part, in milliseconds of the trace's own time. Times of
  BurstGPT and Azure are relative to their first request. \`--fixed-schedule-auto-offset\` sends the first request of a Mooncake or
  Bailian trace at once.
- Prompts are random words of the trace's input length; \`max_tokens\` is its output length. Hash IDs of Mooncake (512 tokens) and
  Bailian (16 tokens) become shared beginnings, so that prefix caches are hit as in the trace. BurstGPT and Azure have none.
- Each row is one request, also of a chat with several turns: its length contains the earlier turns. All request types of Bailian
  are sent as text.
- Rows of BurstGPT and Azure with 0 tokens are failed requests; they are not sent, and a line says how many there are.
- A trace may have 33 million rows in 2 GB; 5 million rows take about 0.4 GB of memory.
- ShareGPT follows vLLM's rules: the first question of each conversation, with limits of 1024 and 2048 tokens. It requires
  \`--tokenizer\` or \`--osl\`.`;
