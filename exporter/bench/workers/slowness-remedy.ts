import type { ClientHealth } from '../../../core/run/result.ts';

/** A client that computed for less than this share of its cores' time was kept waiting: more workers would wait too. */
const BUSY_SHARE = 0.5;

/** What the client had to make its load with. */
export interface ClientResources {
  readonly workers: number;
  readonly cores: number;
  /** Length of the measure phase; null when it was not reached. */
  readonly seconds: number | null;
}

/** The health of a client, with what to do about it when it was too slow. */
export function withRemedy(health: ClientHealth, resources: ClientResources): ClientHealth {
  if (health.verdict !== 'saturated' || health.why === null) return health;
  return { ...health, why: `${health.why}: ${remedy(health, resources)}` };
}

/** More workers when it was its own computing that took the time, and while there are cores for them; one is left to the rest. */
function remedy({ cpu_seconds: cpu }: ClientHealth, { workers, cores, seconds }: ClientResources): string {
  const used = cpu === null || seconds === null || seconds <= 0 ? null : cpu / seconds;
  if (used === null) return 'how much it computed is not known: look what else runs on its machine, or ask less of it';
  if (used < BUSY_SHARE * workers) {
    return `it used only ${Math.round(used * 100)} % of a core, so other programs of this machine kept it waiting: end them, or run it on another machine`;
  }
  if (workers < cores - 1) return `use --workers ${Math.min(workers * 2, cores - 1)}`;
  const many = cores === 1 ? 'one core' : `${cores} cores`;
  return `${workers === 1 ? 'one worker is' : `${workers} workers are`} what this machine's ${many} can take: use a larger one, or several with --shard`;
}
