import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  AnnotationQueryBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE } from './datasource.ts';
import { SELECTED_RUNS } from './queries/client.ts';
import { runMatcher } from '../../prometheus/queries.ts';

export interface DashboardFrame {
  /** Links and bookmarks name the dashboard by it: it never changes. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** The dashboards with this tag lead to each other. */
  readonly tag?: string;
  /** Whether the phases of the chosen runs are marked; unless set they are. */
  readonly regions?: boolean;
  /** Begin of the time range that it opens with; half an hour ago unless set. */
  readonly from?: string;
}

/** What all dashboards share: run regions, links to each other, one crosshair, a short refresh. */
export function baseDashboard(frame: DashboardFrame): DashboardBuilder {
  const { uid, title, description, tag = 'llmbench', regions = true, from = 'now-30m' } = frame;
  const dashboard = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([tag])
    .revision(1)
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from, to: 'now' })
    .refresh('10s')
    .link(linksTo(tag))
    .link(runsInApp());
  return regions ? dashboard.annotation(runRegions()).annotation(stageRegions()) : dashboard;
}

/** A menu of the dashboards with the tag; the time range and the variables that they share go along. */
function linksTo(tag: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Dashboards')
    .type(DashboardLinkType.Dashboards)
    .tags([tag])
    .asDropdown(true)
    .includeVars(true)
    .keepTime(true)
    .targetBlank(false)
    .icon('external link')
    .tooltip('The other dashboards, with the same time range and variables')
    .url('');
}

function runsInApp(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('Open in llmbench')
    .type(DashboardLinkType.Link)
    .url('/a/llmbench-observability-app/runs')
    .keepTime(true)
    .includeVars(false)
    .targetBlank(false)
    .icon('external link')
    .tooltip('The runs, in the llmbench app');
}

/** Grafana's default step of 60 s would miss short runs; regions begin and end at a step. */
const STEP = '2s';

/** A region for each phase of the selected runs. */
function runRegions(): AnnotationQueryBuilder {
  return regions('Phases', RUN_PHASE_ACTIVE, 'blue', 'run {{run_id}} {{phase}}', 'run_id,phase');
}

/** A region for each stage of their loads. */
function stageRegions(): AnnotationQueryBuilder {
  return regions('Stages', RUN_STAGE_ACTIVE, 'purple', 'stage {{stage}}: {{load}}', 'run_id,stage');
}

const active = (metric: string): string => `${metric}{${runMatcher(SELECTED_RUNS)}} == 1`;
const RUN_PHASE_ACTIVE = active('llmbench_run_phase');
const RUN_STAGE_ACTIVE = active('llmbench_run_stage');

/** The query stands twice: Grafana up to 11 reads `expr` and `step`, later ones the `target`. */
function regions(name: string, expr: string, color: string, title: string, tags: string): AnnotationQueryBuilder {
  return (
    new AnnotationQueryBuilder()
      .name(name)
      .datasource(DATASOURCE)
      .enable(true)
      .hide(false)
      .iconColor(color)
      .expr(expr)
      .step(STEP)
      .titleFormat(title)
      // Grafana shows it as HTML; the address is relative to that of Grafana, which may be below a path.
      .textFormat('<a href="a/llmbench-observability-app/runs/{{run_id}}">Open run {{run_id}} in the llmbench app</a>')
      .tagKeys(tags)
      .target(new DataqueryBuilder().refId('Anno').expr(expr).interval(STEP))
  );
}
