import { createRunId } from '../../core/run/run-id.ts';
import type { Provenance } from '../../core/run/provenance.ts';
import type { RunFile, RunShards } from '../../core/run/run.ts';
import type { RunEpoch } from '../clock/monotonic-clock.ts';
import type { Share } from '../load/workers/share.ts';
import { serverVersion } from '../provenance/read-servers.ts';
import { fingerprint } from '../store/fingerprint.ts';
import { publicTarget, type RunPlan } from '../store/run-writer.ts';
import { comparisonKey } from './comparison-key.ts';
import type { PreparedRun } from './run-context.ts';

/** The content of run.json before the run's first request. */
export function runPlan(
  { request, target, targets, transport, form, planned, dataset, credentials, version }: PreparedRun,
  epoch: RunEpoch,
  { system, provenance }: { readonly system: string | null; readonly provenance: Provenance },
): RunPlan {
  const { lengthField } = form.options;
  return {
    run_id: request.runId ?? createRunId(epoch.wall),
    scenario: request.scenario,
    tags: request.tags ?? [],
    comparison_key: comparisonKey(request, form.endpoint.type, planned, form.options.stream),
    gates: request.objectives,
    ...(request.group ?? { group_id: null, step: null, repeat: null }),
    shard: String(request.shard?.share.part ?? 0),
    ...(request.shard === null ? {} : { shards: shardsOf(request.shard.share) }),
    target: {
      origin: target.origin,
      origins: targets.map(({ origin }) => origin),
      system,
      system_version: serverVersion(provenance.servers),
    },
    client: {
      transport: transport.kind ?? null,
      http_trace: request.traffic.connection.httpTrace ?? false,
      reset_kv_cache: request.cacheReset != null,
      ...(form.traceSampleRatio === undefined ? {} : { trace_sample_ratio: form.traceSampleRatio }),
      ...(lengthField === undefined ? {} : { max_tokens_field: lengthField }),
    },
    dataset,
    command_line: request.commandLine?.map((word) => withoutSecrets(word, credentials)) ?? null,
    provenance,
    tool: { name: 'llmbench', version },
    start: epoch.wall.toISOString(),
  };
}

/** A part of a run, which lacks the others. */
function shardsOf({ part, parts }: Share): RunShards {
  const numbers = Array.from({ length: parts }, (_, number) => number);
  return { count: parts, missing: numbers.filter((number) => number !== part).map(String) };
}

const withoutSecrets = (word: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), word);

/** The run as its live metrics describe it. */
export const runFile = (plan: RunPlan): RunFile => ({
  source: null,
  tags: [],
  client: null,
  dataset: null,
  command_line: null,
  provenance: null,
  ...plan,
  target: publicTarget(plan.target),
  schema_version: 7 as const,
  status: 'running' as const,
  recovered: false,
  fingerprint: fingerprint(plan.comparison_key),
  end: null,
  phases: [],
  process: null,
  failure: null,
});
