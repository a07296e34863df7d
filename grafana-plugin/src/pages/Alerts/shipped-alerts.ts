/** An alert of the project's `prometheus/alerts`. */
export interface ShippedAlert {
  name: string;
  severity: 'critical' | 'warning' | 'info';
}

/** The alerts that the project ships, in the order of importance for a benchmark. */
export const SHIPPED_ALERTS: readonly ShippedAlert[] = [
  { name: 'LlmScenarioRegressed', severity: 'critical' },
  { name: 'LlmScenarioUndecided', severity: 'warning' },
  { name: 'LlmScenarioOverdue', severity: 'warning' },
  { name: 'LlmScenarioNeverCompleted', severity: 'warning' },
  { name: 'LlmObjectiveMissed', severity: 'warning' },
  { name: 'LlmScenarioSlowerHeuristic', severity: 'info' },
  { name: 'LlmClientSaturated', severity: 'warning' },
  { name: 'LlmBenchmarkRunning', severity: 'info' },
  { name: 'LlmErrorShareHigh', severity: 'critical' },
  { name: 'LlmTimeToFirstTokenBurn', severity: 'critical' },
  { name: 'LlmQueueSaturated', severity: 'warning' },
  { name: 'LlmKvCachePressure', severity: 'warning' },
  { name: 'LlmPreemptions', severity: 'warning' },
  { name: 'LlmTargetDown', severity: 'critical' },
  { name: 'LlmTargetSilent', severity: 'warning' },
];

/** It marks servers for Alertmanager; the Grafana-managed rules have it in their queries. */
export const ONLY_IN_PROMETHEUS = 'LlmBenchmarkRunning';

/** The names of the project's alerts begin with this, and those of its groups with `llmbench-`. */
export const NAME_PREFIX = 'Llm';
export const GROUP_PREFIX = 'llmbench-';
