import { DashboardBuilder, DashboardCursorSync, type Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { runRegions } from './annotations.ts';
import { withClientLatency } from './benchmark/client-latency.ts';
import { withLoad } from './benchmark/load.ts';
import { withRuns } from './benchmark/runs.ts';
import { withServer } from './benchmark/server.ts';
import { withWholeRun } from './benchmark/whole-run.ts';
import { UID } from './benchmark/uid.ts';
import * as vllm from './queries/vllm.ts';
import { datasourceVariable, runVariables, scrapeIntervalVariable, serverVariables } from './variables.ts';

/** "LLM benchmark": what the chosen runs measured, and what the server said meanwhile. */
export function benchmark(): Dashboard {
  const dashboard = new DashboardBuilder('LLM benchmark')
    .uid(UID)
    .description('What the client measured in each run, beside what the inference server says about itself')
    .tags(['llmbench'])
    .revision(1)
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-30m', to: 'now' })
    .refresh('10s')
    .annotation(runRegions())
    .variables([
      datasourceVariable(),
      ...runVariables(),
      ...serverVariables(vllm.VLLM_PRESENCE, vllm.VLLM_MODEL_LABEL),
      scrapeIntervalVariable(),
    ]);
  withWholeRun(dashboard);
  withLoad(dashboard);
  withClientLatency(dashboard);
  withServer(dashboard);
  withRuns(dashboard);
  return dashboard.build();
}
