import { setBackendSrv, type BackendSrv, type BackendSrvRequest } from '@grafana/runtime';
import { from } from 'rxjs';

type Response = (url: URL) => unknown;

/** Fakes Grafana's backend: responds by path and records the requests. An error from `answer` is rethrown. */
export function fakeBackend(response: Response): URL[] {
  const requests: URL[] = [];
  const backend = {
    fetch: ({ url }: BackendSrvRequest) => {
      const target = new URL(url, 'http://grafana');
      requests.push(target);
      return from(Promise.resolve().then(async () => ({ data: await response(target), status: 200 })));
    },
  };
  setBackendSrv(backend as unknown as BackendSrv);
  return requests;
}

/** The error that Grafana's client throws for an HTTP status. */
export function httpError(status: number, data: unknown = {}) {
  return { status, data };
}
