import { LivePage } from '../exporter/http/live-page.ts';
import { runFile } from '../exporter/publish/fixtures/run.ts';
import { createLiveMetrics } from '../exporter/publish/live-metrics.ts';

const LEAST_SERIES = 1000;

/**
 * From now on the page of a run in this process has at least a thousand series: runs that do nothing share it. `opened`
 * receives the address of the page and its number of series, once.
 */
export function enlargePages(opened: (metricsUrl: string, series: number) => void): void {
  // It is called with the page as `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { serve } = LivePage.prototype;
  LivePage.prototype.serve = async function (this: LivePage, live, options) {
    const served = await serve.call(this, live, options);
    let series = await seriesOf(served.metricsUrl);
    for (let i = 1; series < LEAST_SERIES; i++) {
      const run_id = `idle-${i}`;
      await serve.call(this, createLiveMetrics({ run: runFile({ run_id }), version: '0' }), {
        ...options,
        runId: run_id,
      });
      series = await seriesOf(served.metricsUrl);
    }
    opened(served.metricsUrl, series);
    return served;
  };
}

async function seriesOf(metricsUrl: string): Promise<number> {
  const page = await (await fetch(metricsUrl)).text();
  return page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}
