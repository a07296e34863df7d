import type { PagePieces, RenderedPage } from '../metrics-page.ts';

/** The body of a page in one piece. */
export function wholePage({ body }: Pick<RenderedPage<PagePieces>, 'body'>): Buffer {
  return Buffer.concat(body);
}
