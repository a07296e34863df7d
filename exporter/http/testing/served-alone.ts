import type { ServePage } from '../../publish/served-page.ts';
import { LivePage } from '../live-page.ts';

/** A page for one run, whose port is closed with the run. */
export const servedAlone: ServePage = async (live, options) => {
  const page = new LivePage();
  page.waiting();
  const run = await page.serve(live, options);
  return {
    metricsUrl: run.metricsUrl,
    scraped: (times, limit_seconds, givenUp) => run.scraped(times, limit_seconds, givenUp),
    begin: () => run.begin?.(),
    end: (saturated) => run.end?.(saturated),
    finish: async (ending) => (await run.finish?.(ending)) ?? [],
    depart: async (ending) => {
      const lines = (await run.depart?.(ending)) ?? [];
      await page.close();
      return lines;
    },
    close: async () => {
      await run.close?.();
      await page.close();
    },
  };
};
