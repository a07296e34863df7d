import type { RequestHandler } from 'express';

/** `GET /-/healthy`: 200 as long as the process answers at all. */
export const healthyRoute: RequestHandler = (_request, response) => {
  response.type('text/plain').send('llmbench is healthy.\n');
};
