import { PLUGIN_ID } from './plugin.ts';

export const APP_URL = `/a/${PLUGIN_ID}`;

/** The pages, as they stand behind the app's address. */
export const ROUTES = { runs: 'runs', overlay: 'overlay', servers: 'servers', setup: 'setup' } as const;
export type Route = (typeof ROUTES)[keyof typeof ROUTES];

export function pageUrl(route: Route): string {
  return `${APP_URL}/${route}`;
}
