/**
 * undici's clients alone: what else the package has (fetch, WebSocket, mocks, caches) takes 50 ms of processor time to load.
 * Its folders are no public interface, so package.json accepts only its patch releases.
 */
import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const load = createRequire(import.meta.url);
export const Agent = load('undici/lib/dispatcher/agent.js') as typeof Undici.Agent;
export const Client = load('undici/lib/dispatcher/client.js') as typeof Undici.Client;
export const buildConnector = load('undici/lib/core/connect.js') as typeof Undici.buildConnector;

/** Of the whole package, whose methods it calls: loaded for the first proxy. */
export const proxyAgentClass = (): typeof Undici.ProxyAgent => (load('undici') as typeof Undici).ProxyAgent;
