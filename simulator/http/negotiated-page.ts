import type { IncomingMessage, ServerResponse } from 'node:http';

import { negotiatePythonPage } from '../metrics/python-negotiation.ts';
import { sendPage } from './metrics-server.ts';

/** Sends a page of the Python client in the format that the scraper requested. */
export function sendNegotiatedPage(request: IncomingMessage, response: ServerResponse, page: string): void {
  const { contentType, body } = negotiatePythonPage(request.headers.accept, page);
  sendPage(response, contentType, body);
}
