import { LivePublication } from '../exporter/run/live-publication.ts';
import { createLiveMetrics } from '../exporter/publish/live-metrics.ts';
import type { LiveMetrics } from '../exporter/publish/live-metrics.ts';
import { runFile } from '../exporter/publish/fixtures/run.ts';

const LEAST_SERIES = 1000;

/**
 * From now on the page of a run in this process has at least a thousand series: pages of runs that do nothing are
 * appended. `opened` is told where the page is served and how many series it has.
 */
export function enlargePages(opened: (metricsUrl: string, series: number) => void): void {
  const open = LivePublication.open.bind(LivePublication);
  LivePublication.open = async (live, options) => {
    const pages = [bare(live)];
    let series = await seriesOf(live);
    while (series < LEAST_SERIES) {
      const idle = createLiveMetrics({ run: runFile(), version: '0' });
      pages.push(bare(idle));
      series += await seriesOf(idle);
    }
    live.render = joined(pages);
    const publication = await open(live, options);
    opened(publication.metricsUrl, series);
    return publication;
  };
}

type Render = LiveMetrics['render'];

const bare = (page: LiveMetrics): Render => page.render.bind(page);

function joined(pages: readonly Render[]): Render {
  return async (accept) => {
    const bodies: string[] = [];
    let contentType = '';
    for (const render of pages) {
      const rendered = await render(accept);
      contentType = rendered.contentType;
      bodies.push(rendered.body);
    }
    return { contentType, body: bodies.join('') };
  };
}

async function seriesOf(page: LiveMetrics): Promise<number> {
  const { body } = await page.render(undefined);
  return body.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}
