import { test as base } from '@grafana/plugin-e2e';
import { type APIRequestContext, expect } from '@playwright/test';

/** A test in a running Grafana. It fails on an error that nothing in the page has caught. */
export const test = base.extend<{ pageErrors: string[] }>({
  pageErrors: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
      await use(errors);
      expect(errors).toEqual([]);
    },
    { auto: true },
  ],
});

/** Runs that have ended, the newest first. */
export async function newestRuns(
  request: APIRequestContext,
  count: number
): Promise<Array<{ run_id: string; start: string; end: string }>> {
  const api = `/api/datasources/proxy/uid/llmbench-runs/api/v1/runs?status=completed&limit=${count}`;
  const response: { runs: Array<{ run_id: string; start: string; end: string }> } = await (
    await request.get(api)
  ).json();
  expect(response.runs).toHaveLength(count);
  return response.runs;
}

/** The id of the newest sweep. */
export async function newestSweep(request: APIRequestContext): Promise<string> {
  const response = await request.get('/api/datasources/proxy/uid/llmbench-runs/api/v1/sweeps?limit=1');
  const { sweeps }: { sweeps: Array<{ sweep_id: string }> } = await response.json();
  const [newest] = sweeps;
  if (!newest) {
    throw new Error('no sweep: start one with llmbench run --concurrency 1,2,4');
  }
  return newest.sweep_id;
}

/** The time range of the newest run, with some seconds around it. */
export async function newestTime(request: APIRequestContext): Promise<{ from: string; to: string }> {
  const [run] = await newestRuns(request, 1);
  const at = (time = '', seconds = 0) => String(Date.parse(time) + seconds * 1000);
  return { from: at(run?.start, -15), to: at(run?.end, 15) };
}
