import { LivePage } from '../exporter/http/live-page.ts';
import { createLiveMetrics } from '../exporter/publish/live-metrics.ts';
import type { MetricsPage } from '../exporter/publish/metrics-page.ts';
import { runFile } from '../exporter/publish/fixtures/run.ts';

const LEAST_SERIES = 1000;

/**
 * From now on the page of a run in this process has at least a thousand series: pages of runs that do nothing are
 * appended. `opened` receives the address of the page and its number of series.
 */
export function enlargePages(opened: (metricsUrl: string, series: number) => void): void {
  const { open } = LivePage;
  LivePage.open = async (live, options) => {
    const pages = [bare(live)];
    let series = await seriesOf(live);
    while (series < LEAST_SERIES) {
      const idle = createLiveMetrics({ run: runFile(), version: '0' });
      pages.push(bare(idle));
      series += await seriesOf(idle);
    }
    live.render = joined(pages);
    const page = await open(live, options);
    opened(page.metricsUrl, series);
    return page;
  };
}

type Render = MetricsPage['render'];

const bare = (page: MetricsPage): Render => page.render.bind(page);

function joined(pages: readonly Render[]): Render {
  return async (accept) => {
    const bodies: string[] = [];
    let contentType = '';
    for (const render of pages) {
      const rendered = await render(accept);
      contentType = rendered.contentType;
      bodies.push(rendered.body.toString());
    }
    return { contentType, body: bodies.join('') };
  };
}

async function seriesOf(page: MetricsPage): Promise<number> {
  const { body } = await page.render(undefined);
  return body
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#')).length;
}
