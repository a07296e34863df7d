import type { RequestHandler } from 'express';
import { readFile } from 'node:fs/promises';
import { codeOf } from '../errors/store-errors.ts';

const RUNBOOKS = new URL('../../docs/runbooks/', import.meta.url);
const PAGE = /^Llm[A-Za-z]+(?=\.md$)/;

/** `GET /runbooks/{alert}.md`: what to do when the alert fires. The alerts of `prometheus/alerts` link there. */
export const runbookRoute: RequestHandler = async (request, response, next) => {
  const [alert] = PAGE.exec(String(request.params['page'])) ?? [];
  const text = alert === undefined ? null : await textOf(alert);
  if (text === null) {
    next();
    return;
  }
  response.set('X-Content-Type-Options', 'nosniff');
  response.type('text/plain').send(text);
};

/** Null if the alert has no runbook. */
async function textOf(alert: string): Promise<string | null> {
  try {
    return await readFile(new URL(`${alert}.md`, RUNBOOKS), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
