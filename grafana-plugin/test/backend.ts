import { setBackendSrv, type BackendSrv, type BackendSrvRequest } from '@grafana/runtime';
import { from } from 'rxjs';

type Answer = (url: URL) => unknown;

/** Stands for Grafana's server: answers by path and keeps what was asked. An answer that is thrown is thrown on. */
export function fakeBackend(answer: Answer): URL[] {
  const asked: URL[] = [];
  const backend = {
    fetch: ({ url }: BackendSrvRequest) => {
      const target = new URL(url, 'http://grafana');
      asked.push(target);
      return from(Promise.resolve().then(async () => ({ data: await answer(target), status: 200 })));
    },
  };
  setBackendSrv(backend as unknown as BackendSrv);
  return asked;
}

/** The error that Grafana's client throws for an HTTP status. */
export function httpError(status: number, data: unknown = {}) {
  return { status, data };
}
