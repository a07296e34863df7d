import { type Load, closedLoop } from '../../core/run/load.ts';
import { exampleCapacity } from '../../exporter/store/fixtures/example-capacity.ts';
import { parseText, writePage } from '../../core/exposition/index.ts';
import { OUTCOMES, PHASES } from '../../core/run/record.ts';
import type { ObjectiveResult } from '../../core/run/objectives.ts';
import { PERCENTILE_NAMES } from '../../core/stats/percentiles.ts';
import type { OwnFamilies } from '../../exporter/explain/own-family.ts';
import { requestRecord, resultFile, runFile, scalar, EXAMPLE_DATASET } from '../../exporter/publish/fixtures/run.ts';
import { target } from '../../exporter/publish/fixtures/servers.ts';
import { createLiveMetrics } from '../../exporter/publish/live-metrics.ts';
import { probeFamilies, evaluationLines, storageReadableLines } from '../../exporter/publish/service-families.ts';
import { ResultMetrics } from '../../exporter/publish/result-metrics.ts';
import { RESULT_UNITS } from '../../exporter/publish/result-samples.ts';
import type { RunReader } from '../../exporter/publish/run-reader.ts';
import { runSummary } from '../../exporter/publish/views/run-summary.ts';
import { stateOf } from '../../exporter/judge/scenario-state.ts';
import type { VerdictEntry } from '../../core/api/verdict.ts';
import { VERDICTS } from '../../core/api/verdict.ts';
import { code } from './markdown.ts';

/** What a label of our own families means. */
const LABELS: Readonly<Record<string, string>> = {
  run_id: 'the run; on every series of a run',
  shard: 'the part of a run that is measured by several machines; `0` for one machine',
  phase: `${PHASES.map(code).join(', ')}; the last one only with \`--cool-down\``,
  stage: 'the number of a stage of `--stages`, from 1',
  turn: 'which turns of conversations: `first` or `later`',
  outcome: OUTCOMES.map(code).join(', '),
  reason: 'why a request failed: [a closed list](measures.md#why-requests-fail)',
  measure:
    'a [measure](measures.md); `…_from_due` where it also counts from the due time; `requests` for the counts by outcome',
  stat: `${['mean', 'std', 'min', 'max', ...PERCENTILE_NAMES].map(code).join(', ')}; with the prefix \`all_\`, failed requests count as infinitely slow; \`value\` for a measure that is a single number`,
  state:
    'state of a finished run on the page: `shown`, `expired`, `over_limit`, `newer` (stored by a newer version of llmbench) or `damaged`',
  scenario: 'the name set with `--scenario`',
  start: 'when the run began, such as `2026-11-03T10:15:00Z`; empty for an import without times',
  target: 'URL of a metrics page, without user info and query',
  address: 'host and port of a metrics page, as in the label `instance` of Prometheus',
  model: 'the model, as the server names it',
  endpoint_type: 'the API that was used',
  system: 'the server software, recognized by its metrics; empty when unknown',
  system_version: 'its version; empty when unknown',
  gpu: 'number and model of the GPUs, such as 8 NVIDIA H100 80GB HBM3; empty when unknown',
  gpu_driver_version: 'version of their driver; empty when unknown',
  server_image: 'container image of the server (`--server-image`); empty when not stated',
  commit: "commit of the caller's repository; empty without one",
  tool: '`llmbench`, or the tool whose result was imported',
  tool_version: 'its version',
  load: 'the load, such as `concurrency 64` or `request_rate 2.5 poisson`; of a stage such as `rate=5`; of a capacity `concurrency` or `request_rate`',
  objective: 'the objectives that must hold together, as `--slo` reads them',
  fingerprint:
    'runs with the same fingerprint are comparable: a hash of model, load, dataset, sampling and definitions',
  group_id: 'the sweep or repeats to which a run belongs; empty if none',
  step: 'the step of a sweep',
  repeat: 'the number of a repeat',
  dataset: 'the dataset in short, such as `ISL 512, OSL 128`; empty when unknown',
  status: '`completed`, `aborted` or `failed`',
  client_saturated: '`true` if delays of the client itself affected the results, else `false`; empty when unknown',
  exact: "`true` if the servers' statistics contain the run's requests and no others, else `false`; empty when unknown",
  unit: 'the base unit of the value',
  version: 'the version of llmbench',
  slo: 'an objective of the run, as set with `--slo`',
  verdict: VERDICTS.map(code).join(', '),
  bound:
    '`low`, `estimate` or `high`: the interval of the effect and its middle; of a capacity `holds` (the largest load at which the objective holds) or `fails` (the smallest at which it fails)',
};

export interface PublishedFamily {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** The families of a run that is under way, in the order of the page, and those of finished runs by name. */
export interface PublishedFamilies {
  readonly live: readonly PublishedFamily[];
  readonly finished: readonly PublishedFamily[];
  /** Those of a probe. */
  readonly probe: readonly PublishedFamily[];
}

const NO_EVALUATIONS = { evaluations: 0, failures: 0, missed: 0 };

/** Every metric family that llmbench publishes, read from the pages that it serves. */
export async function publishedFamilies(): Promise<PublishedFamilies> {
  const live = familiesOf((await liveMetrics().render(undefined)).body);
  const page = Buffer.concat((await finishedRuns().render(undefined)).body).toString();
  const ofService = storageReadableLines(true, 'text') + evaluationLines(new Map([['', NO_EVALUATIONS]]), 'text');
  const finished = [...familiesOf(page), ...familiesOf(ofService)];
  const probe = familiesOf(probePage());
  return { live, finished: finished.sort((a, b) => (a.name < b.name ? -1 : 1)), probe };
}

/** The same as `catalog/llmbench.json` has it, for `llmbench explain`. */
export async function ownFamilies(): Promise<OwnFamilies> {
  const { live, finished, probe } = await publishedFamilies();
  const all = new Map([...live, ...finished, ...probe].map((family) => [family.name, family]));
  const names = [...all.keys()].sort();
  const labels = new Set([...all.values()].flatMap((family) => family.labels));
  return {
    families: names.map((name) => {
      const { type, help, labels: own } = all.get(name) as PublishedFamily;
      const has = (families: readonly PublishedFamily[]): boolean => families.some((family) => family.name === name);
      const pages = [
        ...(has(live) ? (['live'] as const) : []),
        ...(has(finished) ? (['finished'] as const) : []),
        ...(has(probe) ? (['probe'] as const) : []),
      ];
      return { name, type, help, unit: unitOf(name), labels: own, pages };
    }),
    labels: Object.fromEntries([...labels].sort().map((label) => [label, plain(meaningOf(label))])),
  };
}

/** The unit in the name, as Prometheus' naming rules require it; null for facts and switches, which are 0 or 1. */
function unitOf(name: string): string | null {
  const [unit = null] =
    /(seconds|tokens_per_second|requests_per_second|documents_per_second|images_per_second|bytes|joules_per_token|cost_per_million_tokens|joules|watts|tokens|ratio|requests|documents|images|chunks|errors|series|runs)(?=(_in_flight|_dropped)?(_total)?$)/.exec(
      name,
    ) ?? [];
  // An error that is counted is a request.
  return unit === 'errors' ? 'requests' : unit;
}

/** Markdown for a terminal. */
const plain = (markdown: string): string => markdown.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '');

/** What a label says, in Markdown. Throws when nothing is written of it. */
export function meaningOf(label: string): string {
  const meaning = LABELS[label];
  if (meaning === undefined) throw new Error(`the label ${label} has no meaning in scripts/docs/own-families.ts`);
  return meaning;
}

const MODEL_MIX = {
  models: ['a', 'b'].map((model) => ({ model, share: 0.5 })),
  selection: 'round_robin',
} as const;

const MEDIA = { count: 1, source: 'urls', different: 1, sha256: null } as const;
const IMAGES = { ...MEDIA, sizes: null, format: null };
const AUDIO = { ...MEDIA, length_seconds: null, sample_rates_hz: null };

function liveMetrics(): ReturnType<typeof createLiveMetrics> {
  const run = runFile();
  const stages = [{ duration_seconds: 60, concurrency: 8, request_rate: null }];
  const load: Load = { ...closedLoop(null), mode: 'stages', stages };
  const stop = { request_count: 10, benchmark_duration_seconds: 60 };
  const key = { ...run.comparison_key, endpoint_type: 'embeddings', load, stop, model_mix: MODEL_MIX };
  const staged = { ...run, comparison_key: key, dataset: { ...EXAMPLE_DATASET, images: IMAGES, audio: AUDIO } };
  const live = createLiveMetrics({
    run: staged,
    version: '0',
    isGood: () => true,
    respondingTargets: () => 1,
    hasConversations: true,
  });
  live.targetsRead([target('http://gpu-1:8000/metrics', 'vllm')]);
  return live;
}

const VERDICT: VerdictEntry = {
  ...{ schema_version: 1, scenario: 'chat', at: '2026-11-03T10:16:00.000Z', verdict: 'regressed', reason: 'decided' },
  ...{ sentence: '', needs: null, fingerprint: 'f', run_ids: ['r'], baseline_run_ids: ['b'], left_out: null },
  ...{ anchor_verdict: null, author: null },
  measures: [
    {
      ...{ measure: 'time_to_first_token', stat: 'p50', unit: 'seconds', definition: 'd', origin: 'client' },
      ...{ population: 'ok', clock: 'sent', direction: 'lower', gating: true, verdict: 'regressed', reason: 'decided' },
      ...{ sentence: '', effect: { low: 1.05, estimate: 1.1, high: 1.2 }, confidence: 0.95 },
      ...{ method: 'rank_sum_exact', runs: { a: 20, b: 3 }, margin: 0.05, detectable: 0.06, p: null, needs: null },
    },
  ],
};

const JUDGED = [stateOf([VERDICT], [], [exampleCapacity()])].filter((state) => state !== null);

const MET: ObjectiveResult = {
  ...{ measure: 'time_to_first_token', stat: 'p95', comparison: '<', limit: 0.3, unit: 'seconds' },
  ...{ value: 0.2, interval: null, verdict: 'met', why: null },
};

function finishedRuns(): ResultMetrics {
  const run = runFile({ status: 'completed', end: '2026-11-03T10:15:11.000Z' });
  const result = resultFile({
    servers: {
      ...{ exact: true, why: null, requests: null, gpu_energy: null },
      collector: { interval_seconds: 1, cpu_seconds: null, cpu_share: null },
      targets: [target('http://gpu-1:8000/metrics', 'vllm')],
    },
    measures: RESULT_UNITS.map((unit) => scalar({ unit, measure: `a measure in ${unit}` })),
    breakdown: [
      {
        ...{ by: 'turn', value: 'first', requests: { ok: 1, error: 0, timeout: 0, cancelled: 0 } },
        measures: [
          scalar({ unit: 'seconds', measure: 'time_to_first_token' }),
          scalar({ unit: 'tokens', measure: 'input_sequence_length' }),
          scalar({ unit: 'ratio', measure: 'cached_input_ratio' }),
        ],
      },
      {
        ...{ by: 'model', value: 'a', requests: { ok: 1, error: 0, timeout: 0, cancelled: 0 }, slos: [MET] },
        measures: (['seconds', 'tokens', 'ratio', 'requests_per_second', 'tokens_per_second'] as const).map((unit) =>
          scalar({ unit, measure: 'request_latency' }),
        ),
      },
    ],
    slos: [MET],
  });
  const source: RunReader = {
    list: async () => [{ run_id: run.run_id, summary: runSummary(run, null), damage: null }],
    readRun: async () => run,
    readResult: async () => result,
    readServers: async () => null,
    readRecords: async function* () {
      yield requestRecord();
    },
    live: async () => [],
  };
  const problem = (line: string): never => {
    throw new Error(line);
  };
  return new ResultMetrics({
    ...{ source, version: '0', problem },
    scenarioStates: () => Promise.resolve(JUDGED),
    expectedScenarios: new Map([['chat', 86_400]]),
  });
}

function probePage(): string {
  const measures = RESULT_UNITS.map((unit) => scalar({ unit, measure: `a measure in ${unit}` }));
  const families = probeFamilies({ isSuccess: true, durationSeconds: 1, result: resultFile({ measures }) });
  return writePage(families, 'text');
}

function familiesOf(text: string): PublishedFamily[] {
  return parseText(new TextEncoder().encode(text)).families.map(({ name, type, help, samples }) => {
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    labels.delete('le');
    return { name, type, help: help ?? '', labels: [...labels] };
  });
}
