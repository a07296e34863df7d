import { shell } from './markdown.ts';

/** What differs between the tutorials. */
export interface Tutorial {
  /** Name of the page. */
  readonly slug: string;
  readonly title: string;
  /** How to start the real server, as Markdown. */
  readonly serverCommands: string;
  /** What to know about it, as Markdown. */
  readonly serverNotes: string;
  /** Where the real server listens by default. */
  readonly address: string;
  /** Options of `llmbench simulate`. */
  readonly simulate: string;
  /** Options of `llmbench run` that only this system requires, with a space in front. */
  readonly options?: string;
  /** Where its metrics are, as Markdown. */
  readonly metrics: string;
}

/** Its address on Hugging Face; the tutorials serve it. */
export const MODEL = 'meta-llama/Llama-3.1-8B-Instruct';

export const TUTORIALS: readonly Tutorial[] = [
  {
    slug: 'vllm',
    title: 'vLLM',
    serverCommands: shell(`vllm serve ${MODEL}`),
    serverNotes: 'vLLM serves the OpenAI API and its metrics on port 8000. The metrics need no option.',
    address: 'http://localhost:8000',
    simulate: '--system vllm',
    metrics:
      'vLLM exposes them at `/metrics`, where llmbench scraped them during the run: queue, prefill, decode, KV cache and prefix cache.',
  },
  {
    slug: 'sglang',
    title: 'SGLang',
    serverCommands: shell(`python3 -m sglang.launch_server --model-path ${MODEL} --port 30000 --enable-metrics`),
    serverNotes: 'Without `launch_server --enable-metrics` SGLang serves no metrics page.',
    address: 'http://localhost:30000',
    simulate: '--system sglang',
    metrics:
      'SGLang exposes them at `/metrics` of the same port; with its gateway in front of several workers, the gateway has a page of its own on port 29000 and those of its workers at `/engine_metrics`, which llmbench finds.',
  },
  {
    slug: 'tensorrt-llm',
    title: 'TensorRT-LLM',
    serverCommands: [
      '```yaml',
      '# options.yaml',
      'return_perf_metrics: true',
      'enable_iter_perf_stats: true',
      '```',
      '',
      shell(`trtllm-serve ${MODEL} --port 8000 --extra_llm_api_options options.yaml`),
    ].join('\n'),
    serverNotes:
      '`return_perf_metrics` adds the metrics page at `/prometheus/metrics`, `enable_iter_perf_stats` the scheduler and the KV cache to it.',
    address: 'http://localhost:8000',
    simulate: '--system trtllm',
    metrics:
      'TensorRT-LLM exposes them at `/prometheus/metrics`, which llmbench finds. Do not scrape `/metrics`: it is JSON, and each read empties it.',
  },
  {
    slug: 'triton',
    title: 'Triton Inference Server',
    serverCommands: shell('tritonserver --model-repository models --metrics-config histogram_latencies=true'),
    serverNotes:
      'The model repository holds a model with the vLLM or the TensorRT-LLM backend; set `LLM_MODEL` to its name. Triton serves `generate_stream` on port 8000 and its metrics on port 8002.',
    address: 'http://localhost:8000',
    simulate: '--system triton',
    options: ' --endpoint-type triton_generate',
    metrics:
      'Triton exposes them on port 8002, which llmbench finds on the same host; otherwise add `--server-metrics triton=HOST`. Most are counters of time and requests, which give means and no percentiles. Its answers contain no token counts: `--tokenizer` makes llmbench count them.',
  },
  {
    slug: 'dynamo',
    title: 'NVIDIA Dynamo',
    serverCommands: shell(
      'python3 -m dynamo.frontend --http-port 8000 --router-mode kv &',
      `DYN_SYSTEM_PORT=8081 python3 -m dynamo.vllm --model ${MODEL}`,
    ),
    serverNotes:
      'The frontend serves the OpenAI API and its own metrics on port 8000. Each worker has a metrics page only with `DYN_SYSTEM_PORT`, a different port for each worker of a host.',
    address: 'http://localhost:8000',
    simulate: '--system dynamo',
    metrics:
      'llmbench scraped the page of the frontend. Name those of the workers with `--server-metrics http://WORKER:8081/metrics`, one for each worker, to see which worker was slow.',
  },
  {
    slug: 'openai-compatible',
    title: 'any OpenAI-compatible server',
    serverCommands:
      'llmbench sends `POST /v1/chat/completions` with `stream: true` and `stream_options.include_usage: true`. Set the address and the model of your server, and its key if it requires one:',
    serverNotes: `${shell('export LLM_API_KEY=…')}\n\nThe options for OpenAI, Gemini, Mistral, Ollama and others, and what each does differently: [compatibility](../compatibility.md).`,
    address: 'https://llm.example.org',
    simulate: '--system vllm --plain',
    options: ' --api-key-env LLM_API_KEY',
    metrics:
      'If the server has a metrics page in the Prometheus format, llmbench scrapes it, whatever its families are; a page at another address is added with `--server-metrics URL`. Without one, the result has the measures of the client only.',
  },
];
