import { bundlePage } from '../../host/bundle.ts';
import { startHost } from '../../host/server.ts';
import { findPrometheus, missingTool, startData } from './start-data.ts';

/** Starts the data and the host page; the tests learn of them through the environment. */
export default async function globalSetup(): Promise<(() => Promise<void>) | undefined> {
  const prometheus = findPrometheus();
  const missing = missingTool(prometheus, process.env['CHROMIUM'] ?? '/usr/bin/chromium');
  if (prometheus === null || missing !== null) {
    if (process.env['CI']) {
      throw new Error(missing ?? 'no prometheus');
    }
    process.env['LLMBENCH_E2E_SKIP'] = missing ?? 'no prometheus';
    return undefined;
  }
  const [data] = await Promise.all([startData(prometheus), bundlePage()]);
  const { url, server } = await startHost({ prometheusUrl: data.prometheusUrl });
  process.env['LLMBENCH_E2E'] = JSON.stringify({
    hostUrl: url,
    prometheusUrl: data.prometheusUrl,
    fromMs: data.fromMs,
    toMs: data.toMs,
  });
  return async () => {
    server.closeAllConnections();
    server.close();
    await data.stop();
  };
}
