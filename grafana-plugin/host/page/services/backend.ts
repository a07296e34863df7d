import { type BackendSrv, type BackendSrvRequest, type FetchResponse, setBackendSrv } from '@grafana/runtime';
import { from, lastValueFrom, type Observable } from 'rxjs';

/** Grafana's client of its own HTTP API: answers other than 2xx are thrown with their status and body. */
function fetchFromServer<T>(options: BackendSrvRequest): Observable<FetchResponse<T>> {
  return from(request<T>(options));
}

async function request<T>(options: BackendSrvRequest): Promise<FetchResponse<T>> {
  const response = await fetch(address(options), {
    method: options.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...options.headers },
    ...(options.data !== undefined && { body: JSON.stringify(options.data) }),
    ...(options.abortSignal && { signal: options.abortSignal }),
  });
  const text = await response.text();
  const { ok, status, statusText, headers, redirected, type, url } = response;
  const data = parsed(text) as T;
  if (!ok) {
    throw { status, statusText, data, config: options, isHandled: true };
  }
  return { ok, status, statusText, headers, redirected, type, url, data, config: options };
}

function address({ url, params }: BackendSrvRequest): string {
  const target = new URL(url, window.location.origin);
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) {
        target.searchParams.append(name, String(one));
      }
    }
  }
  return target.href;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      return text;
    }
    throw error;
  }
}

export function registerBackend(): void {
  const backend: Partial<BackendSrv> = {
    fetch: fetchFromServer,
    get: async (url, params) => (await lastValueFrom(fetchFromServer({ url, params }))).data as never,
  };
  setBackendSrv(backend as BackendSrv);
}
