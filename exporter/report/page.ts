import { documentOf } from './document.ts';
import { html } from './html.ts';
import { runTitle } from './run-title.ts';
import type { ReportData } from './report-data.ts';
import { configuration } from './sections/configuration.ts';
import { distributions } from './sections/distributions.ts';
import { errors } from './sections/errors.ts';
import { header } from './sections/header.ts';
import { measures } from './sections/measures.ts';
import { objectives } from './sections/objectives.ts';
import { scalars } from './sections/scalars.ts';
import { serverSection } from './sections/servers.ts';
import { stageSection } from './sections/stages.ts';
import { tiles } from './sections/tiles.ts';
import { timeline } from './sections/timeline.ts';

/** The report of a run as one self-contained HTML page. */
export function reportPage(data: ReportData): string {
  const { run, result } = data;
  return documentOf(
    `${runTitle(run)} · ${run.run_id}`,
    html`${header(data)} ${tiles(result)} ${objectives(result)} ${stageSection(result)} ${distributions(data)}
      ${timeline(data)} ${errors(result)} ${serverSection(data)} ${measures(result)} ${scalars(result)}
      ${configuration(data)}
      <footer>
        ${run.tool.name} ${run.tool.version} · generated from run.json, result.json and the records of run ${run.run_id}
        · contains no prompts or responses
      </footer>`,
  );
}
