import { shell, GENERATED, page } from './markdown.ts';

/** What differs between the tutorials. */
interface Tutorial {
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
const MODEL = 'meta-llama/Llama-3.1-8B-Instruct';

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

/** The heading of the section whose commands require a real server. */
export const SERVER_HEADING = '## The server';

/** A page for each system: from a server to a verdict. Its commands are those that `tests/tutorials.itest.ts` runs. */
export const tutorialPages = (): ReadonlyMap<string, string> =>
  new Map(TUTORIALS.map((tutorial) => [`docs/tutorials/${tutorial.slug}.md`, tutorialPage(tutorial)]));

function tutorialPage(tutorial: Tutorial): string {
  const { slug, title, serverCommands, serverNotes, address, simulate, options = '', metrics } = tutorial;
  const scenario = `${slug}-tutorial`;
  const load = `--concurrency 8 --request-count 40 --warmup-request-count 8 \\\n  --isl 128 --osl 16 --scenario ${scenario}`;
  const run = `npx llmbench run --url "$LLM_URL" --model "$LLM_MODEL"${options} \\\n  ${load}`;
  return page(
    GENERATED,
    `# ${title.replace(/^any/, 'Any')}: from a server to a verdict`,
    `This tutorial benchmarks ${title}, reads the result beside the server's own metrics, accepts it as a baseline, and judges a later run. It takes about five minutes. llmbench requires Node 22.19 or newer: [installation](../index.md#installation).`,
    SERVER_HEADING,
    serverCommands,
    serverNotes,
    shell(`export LLM_URL=${address} LLM_MODEL=${MODEL}`),
    'Without a server, start a simulated one in a second terminal. Its API and metrics are those of the real server, its latencies are meaningless:',
    shell(`npx llmbench simulate ${simulate}`),
    shell('export LLM_URL=http://localhost:18000 LLM_MODEL=sim-model'),
    '## First run',
    shell(run),
    'llmbench prints the load, sends a probe request, then the warm-up, then 40 measured requests, eight at a time, with 128 input and 16 output tokens each. Read the result from the top:',
    [
      '- `requests` and `errors`: were all requests answered?',
      '- `client`: `ok`, or `saturated` if llmbench itself was delayed and the latencies are too high.',
      '- `servers`: `exact` if the servers counted as many requests as the client. Only then do their metrics describe this run.',
      '- `time to first token` and `inter-token latency`: percentiles of the client. `too few` marks those that 40 requests do not support: [limits and truth](../guides/limits-and-truth.md).',
    ].join('\n'),
    'The run is stored in `runs/`, with a report that needs no network.',
    "## The server's own metrics",
    metrics,
    shell('npx llmbench runs show latest --show-servers'),
    'A percentile from a histogram is an interval: the column `within` states the bounds between which it must be.',
    '## Baseline',
    'A baseline is the set of runs that are normal for a scenario; it requires at least five. Repeat the run, each time with new texts, and accept the five runs:',
    shell(`${run} --num-profile-runs 5`),
    shell(`npx llmbench baseline accept scenario:${scenario}+last:5 --reason "first baseline"`),
    '## Verdict',
    'After a change of the server, make a new run of the same scenario and judge it:',
    shell(`${run} --check`),
    'The verdict is regressed, improved, unchanged, suspect or undecided, each with its evidence. If it is undecided, llmbench prints what is missing and how many runs would decide. Exit code 99 means regressed, so that the same command [gates a CI job](../guides/gate-a-ci-job.md).',
    shell(`npx llmbench history ${scenario}`),
    'lists the runs of the scenario with their verdicts.',
    '## Next steps',
    [
      '- A realistic load: request rates, datasets, traces, sweeps: [run a benchmark](../guides/run-a-benchmark.md).',
      '- The largest load that keeps an objective: [find the capacity](../guides/run-a-benchmark.md#find-the-capacity).',
      '- Runs in Prometheus and Grafana: [Prometheus](../guides/prometheus.md), [Grafana](../guides/grafana.md).',
    ].join('\n'),
  );
}
