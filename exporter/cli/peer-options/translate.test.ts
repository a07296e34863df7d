import { expect, test } from '@jest/globals';
import { CliError } from '../failure.ts';
import { requestedRuns } from '../options/requested-runs.ts';
import { RUN_OPTIONS } from '../options/run-options.ts';
import { PEERS } from './peers.ts';
import { translated } from './translate.ts';

const words = (command: string): readonly string[] => command.split(' ');
const own = (command: string): string | undefined => translated(words(command))?.argv.join(' ');
const notes = (command: string): readonly string[] | undefined => translated(words(command))?.notes;

test.each([
  [
    'vllm bench serve --model m --base-url http://h:1 --num-prompts 5',
    '--model m --url http://h:1 --request-count 5 --endpoint-type completions --request-rate inf --isl 1024 --osl 128 --ignore-eos',
  ],
  [
    'vllm bench serve --backend openai-chat --endpoint /v1/chat/completions --host h --port 1 --max_concurrency 2 --served-model-name s --model m --burstiness 0.5',
    '--url http://h:1 --model s --endpoint-type chat --concurrency 2 --arrival-pattern gamma --arrival-smoothness 0.5 --request-count 1000 --isl 1024 --osl 128 --ignore-eos',
  ],
  [
    'vllm bench serve --dataset-name sharegpt --dataset-path f.json --temperature 0 --header A=b=c --metadata x=1 y=2 --yes',
    '--custom-dataset-type sharegpt --input-file f.json --extra-inputs temperature:0 --header A:b=c --metadata x=1 --metadata y=2 --yes --url http://127.0.0.1:8000 --endpoint-type completions --request-count 1000 --request-rate inf',
  ],
  [
    '/usr/bin/python3.12 -m sglang.bench_serving --backend sglang --dataset-name random --random-range-ratio 1 --num-prompts=9 --disable-ignore-eos',
    '--endpoint-type sglang_generate --request-count 9 --url http://127.0.0.1:30000 --request-rate inf --isl 1024 --osl 1024',
  ],
  [
    'aiperf profile -m m -u h:1 --concurrency 3 --extra-inputs a:1 b:2 --num-requests 4',
    '--model m --url h:1 --concurrency 3 --extra-inputs a:1 b:2 --request-count 4 --no-streaming',
  ],
  [
    'aiperf profile -m m -u h:1 --streaming --request-count 4 --audio-length-mean 5 --audio-sample-rates 16 --audio-depths 16 --audio-format wav --audio-num-channels 1',
    '--audio-clips 1 --audio-length-mean 5 --model m --url h:1 --streaming --request-count 4 --audio-sample-rates 16',
  ],
  [
    'genai-perf profile -m m --streaming --request-count 4',
    '--model m --streaming --request-count 4 --url http://localhost:8000',
  ],
  [
    'guidellm benchmark run --target h --rate-type constant --rate 5 --max-seconds 9 --data {"prompt_tokens":4,"output_tokens":6}',
    '--request-rate 5 --arrival-pattern constant --isl 4 --osl 6 --ignore-eos --url h --benchmark-duration 9',
  ],
  ['token_benchmark_ray.py --model m --num-concurrent-requests 2', '--model m --concurrency 2'],
])('%s', (command, expected) => {
  expect(own(command)).toBe(expected);
});

test('what needs no counterpart is left out, with a line', () => {
  expect(notes('vllm bench serve --save-result --percentile-metrics ttft,tpot --tokenizer t')).toEqual([
    '--save-result is left out: every run is stored in --runs-dir, with one row per request',
    '--percentile-metrics is left out: every measure is reported with p1 to p99.9',
  ]);
  // The value is what llmbench does.
  expect(notes('vllm bench serve --random-range-ratio 0 --random-prefix-len 0 --tokenizer t')).toEqual([]);
});

test.each([
  [
    'vllm bench serve --lora-modules a b',
    '--lora-modules: use --model a --model b: a LoRA adapter is the name of a model',
  ],
  ['vllm bench serve --random-range-ratio 0.5', '--random-range-ratio: use --isl-stddev and --osl-stddev'],
  ['vllm bench serve --dataset-name constructor', '--dataset-name: random prompts are the default'],
  [
    'vllm bench serve --num-promts 5',
    '--num-promts is not an option of it, nor of llmbench run; did you mean --num-prompts?',
  ],
  ['aiperf profile --rankings-passages-stddev 2', '--rankings-passages-stddev: all requests have the same number'],
  ['aiperf profile --scenario x', '--scenario: the name of the benchmark in metrics and comparisons'],
  ['python -m sglang.bench_serving', 'its default dataset is ShareGPT'],
  ['guidellm benchmark --rate-type sweep', '--rate-type: use --concurrency N for concurrent'],
  ['genai-perf profile -m m -- -v', "from '--' on"],
])('%s is refused', (command, reason) => {
  expect(() => translated(words(command))).toThrow(CliError);
  expect(() => translated(words(command))).toThrow(reason);
});

test('an API key is never repeated', () => {
  expect(() => translated(words('aiperf profile --api-key sk-secret'))).toThrow(/^(?!.*sk-secret)/s);
});

test.each(['vllm serve', 'run --url x', 'aiperf', 'python x.py', ''])('%s is none', (command) => {
  expect(translated(words(command))).toBeNull();
});

test("the commands of the guide are the guide's command of llmbench", async () => {
  const load = '--random-input-len 512 --random-output-len 128 --max-concurrency 16 --num-prompts 500';
  const same = [
    'aiperf profile -m llama -u localhost:8000 --endpoint-type chat --streaming --concurrency 16 --request-count 500 --isl 512 --osl 128 --ignore-eos',
    `vllm bench serve --backend openai-chat --endpoint /v1/chat/completions --model llama ${load}`,
    `python -m sglang.bench_serving --backend vllm-chat --model llama --dataset-name random --random-range-ratio 1 ${load}`,
    'guidellm benchmark --target http://localhost:8000 --model llama --rate-type concurrent --rate 16 --max-requests 500 --data prompt_tokens=512,output_tokens=128',
  ].map((command) => translated(words(command))?.argv ?? []);
  const guide = words(
    '--model llama --url localhost:8000 --concurrency 16 --request-count 500 --isl 512 --osl 128 --ignore-eos',
  );
  const loads = await Promise.all(
    [guide, ...same].map(async (argv) => {
      const { requests } = await requestedRuns(argv, {});
      return requests.map(({ model, measure, inputTokens, outputTokens, sampling, traffic }) => [
        ...[model, measure, inputTokens, outputTokens, sampling],
        traffic.endpointType,
      ]);
    }),
  );
  expect(new Set(loads.map((each) => JSON.stringify(each))).size).toBe(1);
});

test('what a translation is made of are options of `run`', () => {
  const templates = PEERS.flatMap(({ options, defaults }) => [
    ...options.flatMap(([, answer]) => (answer.kind === 'accepted' ? [] : [answer.as ?? ''])),
    ...defaults.map(({ as = '' }) => as),
  ]).flatMap((as) => (typeof as === 'string' ? [as] : Object.values(as)));
  const flags = templates.flatMap((text) => text.split(' ').filter((word) => word.startsWith('--')));
  expect(flags.length).toBeGreaterThan(50);
  expect(flags.filter((flag) => !Object.hasOwn(RUN_OPTIONS, flag.slice(2)))).toEqual([]);
});
