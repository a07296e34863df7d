import type { ClientHealth } from '../../../core/run/result.ts';

/**
 * A client that computed for a smaller share of its cores' time was waiting for the CPU: more workers would wait too.
 */
const BUSY_SHARE = 0.5;

/** The resources that the client had. */
export interface ClientResources {
  readonly workers: number;
  readonly cores: number;
  /** Length of the measure phase; null when it was not reached. */
  readonly seconds: number | null;
}

/** The health of a client, with a remedy when it was too slow. */
export function withRemedy(health: ClientHealth, resources: ClientResources): ClientHealth {
  if (health.verdict !== 'saturated' || health.why === null) return health;
  return { ...health, why: `${health.why}: ${remedy(health, resources)}` };
}

/**
 * More workers when their own computing took the time, as long as there are cores for them; one is left for the rest.
 */
function remedy({ cpu_seconds: cpu }: ClientHealth, { workers, cores, seconds }: ClientResources): string {
  const used = cpu === null || seconds === null || seconds <= 0 ? null : cpu / seconds;
  if (used === null) return 'its CPU time is not known: check what else runs on its machine, or reduce the load';
  if (used < BUSY_SHARE * workers) {
    return `it used only ${Math.round(used * 100)} % of a core, so other programs on this machine kept it waiting: stop them, or use another machine`;
  }
  if (workers < cores - 1) return `use --workers ${Math.min(workers * 2, cores - 1)}`;
  const many = cores === 1 ? 'one core' : `${cores} cores`;
  return `${workers === 1 ? 'one worker is' : `${workers} workers are`} the limit of this machine's ${many}: use a larger machine, or several with --shard`;
}
