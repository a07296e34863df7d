import type { ClientHealth } from '../../../core/run/result.ts';

/** The health of a client, with what to do about it when it was too slow. */
export function withRemedy(health: ClientHealth, workers: number, cores: number): ClientHealth {
  if (health.verdict !== 'saturated' || health.why === null) return health;
  return { ...health, why: `${health.why}: ${remedy(workers, cores)}` };
}

/** More workers while there are cores for them; one is left to the rest. */
function remedy(workers: number, cores: number): string {
  if (workers < cores - 1) return `use --workers ${Math.min(workers * 2, cores - 1)}`;
  const many = cores === 1 ? 'one core' : `${cores} cores`;
  return `${workers === 1 ? 'one worker is' : `${workers} workers are`} what this machine's ${many} can take: use a larger one, or several with --shard`;
}
