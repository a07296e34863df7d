import type { RequestHandler } from 'express';

/** `GET /-/healthy`: 200 while the process responds. */
export const healthyRoute: RequestHandler = (_request, response) => {
  response.type('text/plain').send('llmbench is healthy.\n');
};
