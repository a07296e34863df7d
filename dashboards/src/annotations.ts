import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE } from './datasource.ts';
import { SELECTED_RUNS } from './queries/client.ts';
import { runMatcher } from '../../prometheus/queries.ts';

/** Grafana's default step of 60 s would miss short runs; regions begin and end at a step. */
const STEP = '2s';

/**
 * A region for each phase of the selected runs. The query stands twice: Grafana up to 11 reads `expr` and `step`, later
 * ones the `target`.
 */
export function runRegions(): AnnotationQueryBuilder {
  const expr = `llmbench_run_phase{${runMatcher(SELECTED_RUNS)}} == 1`;
  return new AnnotationQueryBuilder()
    .name('Run phases')
    .datasource(DATASOURCE)
    .enable(true)
    .hide(false)
    .iconColor('blue')
    .expr(expr)
    .step(STEP)
    .titleFormat('run {{run_id}} {{phase}}')
    .textFormat('{{run_id}}')
    .tagKeys('run_id,phase')
    .target(new DataqueryBuilder().refId('Anno').expr(expr).interval(STEP));
}
