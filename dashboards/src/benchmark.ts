import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { baseDashboard } from './base-dashboard.ts';
import { withClientLatency } from './benchmark/client-latency.ts';
import { withEnergy } from './benchmark/energy.ts';
import { withLoad } from './benchmark/load.ts';
import { withRuns } from './benchmark/runs.ts';
import { withServer } from './benchmark/server.ts';
import { withWholeRun } from './benchmark/whole-run.ts';
import type { Histograms } from './native/histograms.ts';
import { UID } from './benchmark/uid.ts';
import { SYSTEM_PRESENCE } from './queries/system.ts';
import {
  datasourceVariable,
  objectiveVariable,
  recordedVariables,
  runVariables,
  scrapeIntervalVariable,
} from './variables.ts';

const TTFT_OBJECTIVE = {
  name: 'ttft_slo',
  label: 'TTFT objective',
  histogram: 'llmbench_time_to_first_token_seconds',
  measure: 'time_to_first_token',
} as const;

/** "LLM benchmark": what the chosen runs measured, and what the server said meanwhile. */
export function benchmark(histograms: Histograms = 'classic'): Dashboard {
  const dashboard = baseDashboard({
    uid: UID,
    title: 'LLM benchmark',
    description: "Client measurements of each run next to the inference server's own metrics",
  }).variables([
    datasourceVariable(),
    ...runVariables(),
    ...recordedVariables(SYSTEM_PRESENCE),
    objectiveVariable(TTFT_OBJECTIVE, histograms),
    scrapeIntervalVariable(),
  ]);
  withWholeRun(dashboard, histograms);
  withLoad(dashboard);
  withClientLatency(dashboard);
  withServer(dashboard);
  withEnergy(dashboard);
  withRuns(dashboard);
  return dashboard.build();
}
