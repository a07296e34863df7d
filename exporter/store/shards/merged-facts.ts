import { PHASES } from '../../../core/run/record.ts';
import type { ClientHealth, ResultFile } from '../../../core/run/result.ts';
import type { PhaseWindow, RunFile, RunShards } from '../../../core/run/run.ts';
import { UNKNOWN_HEALTH } from '../sealed/run-result.ts';
import { shardsText } from './shard-names.ts';

/** One shard of a run. */
export interface ShardRun {
  readonly run: RunFile;
  readonly result: ResultFile;
}

/** The status of the shards: the worst one, with the failures of each. A run that lacks shards did not complete. */
export function mergedEnd(
  shards: readonly ShardRun[],
  { count, missing }: RunShards,
): Pick<RunFile, 'status' | 'failure' | 'recovered'> {
  const statuses = [...shards.map(({ run }) => run.status), ...(missing.length === 0 ? [] : ['aborted' as const])];
  const status = (['failed', 'aborted'] as const).find((each) => statuses.includes(each)) ?? 'completed';
  const incomplete =
    missing.length === 0
      ? []
      : [`incomplete: ${shardsText(missing)} of ${count} ${missing.length === 1 ? 'is' : 'are'} missing`];
  const failures = shards.flatMap(({ run: { shard, failure } }) =>
    failure === null ? [] : [`shard ${shard}: ${failure}`],
  );
  const reasons = [...incomplete, ...failures];
  return {
    status,
    failure: reasons.length === 0 ? null : reasons.join('; '),
    recovered: shards.some(({ run }) => run.recovered),
  };
}

/** Each phase, from the first shard that started it to the last that ended it. */
export function mergedPhases(shards: readonly ShardRun[]): PhaseWindow[] {
  const phases = shards.flatMap(({ run }) => run.phases);
  return PHASES.flatMap((phase) => {
    const windows = phases.filter((window) => window.phase === phase);
    if (windows.length === 0) return [];
    const ends = windows.map(({ end }) => end);
    return [{ phase, start: least(windows.map(({ start }) => start)), end: ends.includes(null) ? null : most(ends) }];
  });
}

/** Instants in the same format, RFC 3339 in UTC, sort as strings. */
export const least = (instants: readonly (string | null)[]): string | null => known(instants).at(0) ?? null;
export const most = (instants: readonly (string | null)[]): string | null => known(instants).at(-1) ?? null;

function known(instants: readonly (string | null)[]): string[] {
  return instants.filter((instant) => instant !== null).sort();
}

/** The worst client verdict; CPU time is summed. */
export function mergedHealth(shards: readonly ShardRun[]): ClientHealth {
  const clients = shards.map(({ run, result }) => ({ shard: run.shard, ...result.client }));
  const worst = (['saturated', 'unknown', 'ok'] as const)
    .map((verdict) => clients.find((client) => client.verdict === verdict))
    .find((client) => client !== undefined);
  if (worst === undefined) return UNKNOWN_HEALTH;
  const cpu = clients.map(({ cpu_seconds }) => cpu_seconds);
  return {
    verdict: worst.verdict,
    why: worst.why === null ? null : `shard ${worst.shard}: ${worst.why}`,
    event_loop_delay_p99_seconds: largest(clients.map((client) => client.event_loop_delay_p99_seconds)),
    event_loop_delay_max_seconds: largest(clients.map((client) => client.event_loop_delay_max_seconds)),
    cpu_seconds: cpu.reduce((sum, seconds) => (sum === null || seconds === null ? null : sum + seconds), 0),
  };
}

function largest(values: readonly (number | null)[]): number | null {
  return values.reduce((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
}

/** The server metrics as seen by one shard: its window may lack the requests of the others. */
export function mergedServers(shards: readonly ShardRun[]): ResultFile['servers'] {
  const seen = shards.find(({ result }) => result.servers !== null);
  if (seen?.result.servers == null) return null;
  if (shards.length === 1) return seen.result.servers;
  const why = `not exact: shard ${seen.run.shard} collected, in its own window, what the servers did for all shards`;
  return { ...seen.result.servers, exact: false, why, requests: null };
}
