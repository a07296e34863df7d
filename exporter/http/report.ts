import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { isRunId } from '../../core/run/run-id.ts';
import { codeOf } from '../errors/store-errors.ts';
import { isFolder } from '../files/exists.ts';
import { NotRegularError, readRegularFile } from '../files/read-regular-file.ts';
import { REPORT_FILE } from '../report/write-report.ts';
import type { RunStore } from '../store/run-store.ts';
import { type Access, mayRead } from './access/access.ts';
import { PAGE_POLICY } from './landing.ts';
import { Problem } from './problem.ts';

/** `GET /runs/{run_id}`: the HTML report of a finished run. */
export function reportRoute(store: Pick<RunStore, 'pathOf' | 'wholePathOf'>, access: Access): RequestHandler {
  return async (request, response, next) => {
    const runId = String(request.params['run_id']);
    // What is sent depends on who asks.
    response.set({ 'Cache-Control': 'private, no-cache', Vary: 'Authorization' });
    if (!mayRead(access, request)) {
      throw new Problem(401, 'A token is required.', { headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    const text =
      isRunId(runId) && isFolder(store.pathOf(runId)) ? await reportOf(await store.wholePathOf(runId)) : null;
    if (text === null) {
      next();
      return;
    }
    response.set({ 'Content-Security-Policy': PAGE_POLICY, 'X-Content-Type-Options': 'nosniff' });
    response.type('text/html').send(text);
  };
}

/** Null if the run has none. What is no regular file, such as a symbolic link to outside of the runs directory, is not served. */
async function reportOf(folder: string): Promise<string | null> {
  try {
    return await readRegularFile(join(folder, REPORT_FILE));
  } catch (error) {
    if (error instanceof NotRegularError || codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') return null;
    throw error;
  }
}
