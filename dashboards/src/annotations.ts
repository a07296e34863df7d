import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE } from './datasource.ts';
import { SELECTED_RUNS } from './queries/client.ts';
import { runMatcher } from '../../prometheus/queries.ts';

/** Grafana's default step of 60 s would miss short runs; regions begin and end at a step. */
const STEP = '2s';

/** A region for each phase of the selected runs. */
export function runRegions(): AnnotationQueryBuilder {
  return regions('Run phases', RUN_PHASE_ACTIVE, 'blue', 'run {{run_id}} {{phase}}', 'run_id,phase');
}

/** A region for each stage of their loads. */
export function stageRegions(): AnnotationQueryBuilder {
  return regions('Stages', RUN_STAGE_ACTIVE, 'purple', 'stage {{stage}}: {{load}}', 'run_id,stage');
}

const active = (metric: string): string => `${metric}{${runMatcher(SELECTED_RUNS)}} == 1`;
const RUN_PHASE_ACTIVE = active('llmbench_run_phase');
const RUN_STAGE_ACTIVE = active('llmbench_run_stage');

/** The query stands twice: Grafana up to 11 reads `expr` and `step`, later ones the `target`. */
function regions(name: string, expr: string, color: string, title: string, tags: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .hide(false)
    .iconColor(color)
    .expr(expr)
    .step(STEP)
    .titleFormat(title)
    .textFormat('{{run_id}}')
    .tagKeys(tags)
    .target(new DataqueryBuilder().refId('Anno').expr(expr).interval(STEP));
}
