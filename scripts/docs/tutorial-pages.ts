import { GENERATED, page, shell } from './markdown.ts';
import { MODEL, TUTORIALS, type Tutorial } from './tutorials.ts';

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
